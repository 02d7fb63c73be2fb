"""Which clusters hold a template: one finalizer for each that uses it. Pure.

Finalizers of others are left alone, and so is their order. A template on its way out gets no new ones, because the
server refuses them: it can only lose those of clusters that no longer use it.
"""

from collections.abc import Collection

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.multigres.deletion.annotations import set_as_seen
from steward.runtime.plan.steps import Patch

PREFIX = "multigres.com/in-use-by-"


def held_by(cluster: str) -> str:
    return f"{PREFIX}{cluster}"


def wanted_finalizers(meta: ObjectMeta, users: Collection[str]) -> tuple[str, ...]:
    ours = {held_by(cluster) for cluster in users}
    kept = [name for name in meta.finalizers if not name.startswith(PREFIX) or name in ours]
    added = [] if meta.deletion_timestamp is not None else sorted(ours - set(kept))
    return (*kept, *added)


def protect(ref: Ref, meta: ObjectMeta, users: Collection[str]) -> tuple[Patch, ...]:
    """One patch for all clusters together, of the version that was seen: nobody's finalizer gets lost."""
    wanted = wanted_finalizers(meta, users)
    if wanted == meta.finalizers:
        return ()
    return (set_as_seen(ref, meta, "finalizers", list(wanted)),)
