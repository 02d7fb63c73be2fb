"""The health of a cluster that hibernates. Pure."""

from steward.multigres import reasons
from steward.multigres.status.conditions import ObjectHealth

MESSAGE = "the servers are stopped and their volumes kept; set spec.hibernation to false to start them"


def hibernation_health(health: ObjectHealth, hibernates: bool) -> ObjectHealth:
    """Ready and not available, as any cluster without servers, once everything has stopped."""
    if not hibernates or health.phase != "Stopped":
        return health
    return health._replace(phase="Hibernated", reason=reasons.HIBERNATED, message=MESSAGE)
