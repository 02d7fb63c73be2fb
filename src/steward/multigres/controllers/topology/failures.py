"""Why the records of a cluster are missing or outdated, as its status reports it."""

from typing import NamedTuple

from steward.etcd.errors import MalformedAnswer
from steward.multigres import reasons
from steward.multigres.controllers.common.etcd_access import SecretUnusable
from steward.multigres.topology.protobuf import MalformedRecord


class Unregistered(NamedTuple):
    """Why the records are missing or outdated."""

    reason: str
    message: str


def explain_failure(error: Exception) -> Unregistered:
    if isinstance(error, MalformedRecord):
        return Unregistered(reasons.TOPOLOGY_UNREADABLE, str(error))
    if isinstance(error, SecretUnusable):
        return Unregistered(reasons.TOPOLOGY_SECRET_MISSING, str(error))
    if isinstance(error, MalformedAnswer):
        return Unregistered(reasons.TOPOLOGY_NOT_ETCD, f"{error}; check the endpoints of the topology server")
    return Unregistered(reasons.TOPOLOGY_UNREACHABLE, f"{error}; it is tried again by itself")
