"""Errors of the etcd client.

EtcdError
  Unreachable      no response: connection refused, unknown host name, timeout, TLS failure
  RequestRejected  an error response: bad request, no leader, wrong credentials
"""


class EtcdError(Exception):
    """Base class of the errors below; the message names the endpoint."""


class Unreachable(EtcdError):
    """No endpoint responded."""


class RequestRejected(EtcdError):
    """An endpoint responded with an error."""
