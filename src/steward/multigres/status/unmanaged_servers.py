"""Recognizes servers that no StatefulSet runs, as newer versions of the Go operator create them. Pure.

Their pods and volume claims have other names than those of a StatefulSet. A set beside them would start empty servers
in the same shard, so nothing of the shard is changed while they exist.
"""

from collections.abc import Iterable

from steward.kube.objects.meta import ObjectMeta, controller_of
from steward.multigres import reasons
from steward.multigres.status.conditions import Stall
from steward.multigres.views import PodView

MAX_NAMED_PODS = 3


def unmanaged_servers_stall(shard: ObjectMeta, servers: Iterable[PodView]) -> Stall | None:
    names = sorted(pod.metadata.name for pod in servers if _is_controlled_by(pod.metadata, shard.uid))
    if not names:
        return None
    more = len(names) - MAX_NAMED_PODS
    named = ", ".join(names[:MAX_NAMED_PODS]) + (f" and {more} more" if more > 0 else "")
    message = (
        f"pods {named} run Postgres without a StatefulSet, as newer versions of the Go operator create them: they and"
        " their volumes are not changed; move their data to another cluster, then delete this one"
    )
    return Stall(reasons.UNMANAGED_SERVERS, message)


def _is_controlled_by(meta: ObjectMeta, uid: str) -> bool:
    controller = controller_of(meta)
    return controller is not None and controller.uid == uid
