"""Errors of the certificates package.

CertificateError
  UnusableCertificateError  files or Secrets that hold no usable certificate
  ProjectionError           the kubelet did not update a mounted certificate in time
"""


class CertificateError(Exception):
    """Base class of the errors below."""


class UnusableCertificateError(CertificateError):
    pass


class ProjectionError(CertificateError):
    pass
