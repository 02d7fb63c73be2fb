"""Errors of the certificates package.

CertificateError
  UnusableCertificateError  files or Secrets that hold no usable certificate
  ProjectionError           the kubelet did not bring a new certificate to disk in time
  OwnerNotFoundError        no Deployment, or more than one, has the labels
"""


class CertificateError(Exception):
    """Anything about certificates."""


class UnusableCertificateError(CertificateError):
    pass


class ProjectionError(CertificateError):
    pass


class OwnerNotFoundError(CertificateError):
    pass
