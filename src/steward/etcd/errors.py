"""What can go wrong with etcd.

EtcdError
  Unreachable    no answer: nobody listens, the name does not resolve, time ran out, TLS was refused
  Refused        an answer that is no: bad request, no leader, wrong credentials
"""


class EtcdError(Exception):
    """Anything that keeps a call from succeeding; the message names the endpoint."""


class Unreachable(EtcdError):
    """No endpoint answered."""


class Refused(EtcdError):
    """An endpoint answered with an error."""
