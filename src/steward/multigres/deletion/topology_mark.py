"""The annotation of a cluster that has never written to its topology server. Pure.

Without it, a cluster whose external server never answered could not be deleted before the longest shutdown period: only
the server knows whether there are records to remove. The annotation is set together with the finalizer, before any
record can be written, and is removed before the first one is written. A cluster without it, for example one of an older
version, may have records. Its value is the uid of the cluster, so that a copy of the manifest does not count.
"""

from typing import Any

from steward.kube.objects.kinds import Ref
from steward.kube.objects.meta import ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.multigres.deletion.annotations import has_finalizer
from steward.multigres.objects.metadata import FINALIZER, GO_FINALIZERS
from steward.runtime.plan.steps import Patch, Plan

NOT_REGISTERED = "multigres.com/topology-not-registered"


def may_have_records(cluster: ObjectMeta) -> bool:
    return cluster.annotations.get(NOT_REGISTERED) != cluster.uid


def finalizer_steps(ref: Ref, cluster: ObjectMeta, *, is_new: bool) -> Plan:
    """Adds the finalizer and, to a cluster that was never registered, the annotation, in one write."""
    if has_finalizer(cluster) or cluster.deletion_timestamp is not None:
        return ()
    kept = [name for name in cluster.finalizers if name not in GO_FINALIZERS]
    fields: dict[str, Any] = {"finalizers": [*kept, FINALIZER]}
    # The Go operator has written records.
    if is_new and len(kept) == len(cluster.finalizers):
        fields["annotations"] = {NOT_REGISTERED: cluster.uid}
    return (Patch(ref, MergePatch.metadata_at_version(cluster.resource_version, **fields)),)


def registration_steps(ref: Ref, cluster: ObjectMeta) -> Plan:
    """Removes the annotation. Without a resourceVersion: whatever else has changed, records may exist from now on."""
    if NOT_REGISTERED not in cluster.annotations:
        return ()
    return (
        Patch(ref, MergePatch({"metadata": {"uid": cluster.uid, "annotations": {NOT_REGISTERED: None}}})),
    )
