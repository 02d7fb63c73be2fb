"""Steps that add and remove finalizers. Pure.

They are conditional on the resourceVersion, so that no finalizer of another writer gets lost.
"""

from collections.abc import Collection, Sequence

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.steps import Patch, Plan


def add_finalizer(ref: Ref, meta: ObjectMeta, finalizer: str, replaced: Collection[str] = ()) -> Plan:
    """Empty if the object has the finalizer, or is terminating: then the API server accepts no new one. `replaced` are
    finalizers of a predecessor, which nobody else would remove."""
    kept = tuple(name for name in meta.finalizers if name not in (*replaced, finalizer))
    is_kept = finalizer in meta.finalizers and len(kept) + 1 == len(meta.finalizers)
    if is_kept or meta.deletion_timestamp is not None:
        return ()
    return (set_finalizers(ref, meta, (*kept, finalizer)),)


def remove_finalizer(ref: Ref, meta: ObjectMeta, finalizer: str) -> Plan:
    if finalizer not in meta.finalizers:
        return ()
    return (set_finalizers(ref, meta, tuple(name for name in meta.finalizers if name != finalizer)),)


def set_finalizers(ref: Ref, meta: ObjectMeta, finalizers: Sequence[str]) -> Patch:
    return Patch(ref, MergePatch.metadata_at_version(meta.resource_version, finalizers=list(finalizers)))
