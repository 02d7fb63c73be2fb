"""Finalizers, one at a time and only on the version that was read: two writers never undo each other."""

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.runtime.plan.steps import Patch, Plan


def held_by(ref: Ref, meta: ObjectMeta, finalizer: str) -> Plan:
    """The step that puts the finalizer there, if it is not."""
    if finalizer in meta.finalizers or meta.deletion_timestamp is not None:
        return ()
    return (_with(ref, meta, (*meta.finalizers, finalizer)),)


def let_go(ref: Ref, meta: ObjectMeta, finalizer: str) -> Plan:
    if finalizer not in meta.finalizers:
        return ()
    return (_with(ref, meta, tuple(name for name in meta.finalizers if name != finalizer)),)


def _with(ref: Ref, meta: ObjectMeta, names: tuple[str, ...]) -> Patch:
    return Patch(ref, MergePatch.metadata_as_seen(meta.resource_version, finalizers=list(names)))
