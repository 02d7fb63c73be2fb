"""Errors of the etcd client.

EtcdError
  Unreachable      no response: connection refused, unknown host name, timeout, TLS failure
  RequestRejected  an error response: bad request, no leader, wrong credentials
  MalformedAnswer  a response that etcd does not send: a redirect, an encoding, too many bytes, another JSON document

A message names the endpoint and what is wrong in our own words. It never holds bytes of the response: the address of an
external server may be any in the network, and messages are shown to users who must not read what answers there.
"""


class EtcdError(Exception):
    """Base class of the errors below; the message names the endpoint."""


class Unreachable(EtcdError):
    """No endpoint responded."""


class RequestRejected(EtcdError):
    """An endpoint responded with an error."""


class MalformedAnswer(EtcdError):
    """An endpoint responded with something that is no answer of etcd."""
