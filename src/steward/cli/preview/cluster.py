"""Previews a changed MultigresCluster, or changed templates of clusters: compares their objects before and after.

Both trees come from the builders of the operator, with the template revisions that its update policy would make active:
a cluster under `Manual` or `Window` is shown as waiting, and one that the change would break as rejecting it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from steward.cli.hints import with_update_command
from steward.cli.preview.namespace_snapshot import NamespaceSnapshot, read_snapshot
from steward.cli.preview.offline_tree import offline_tree
from steward.cli.preview.text import PreviewEntry, manifest_diff
from steward.kube.client.client import Client
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Manifest, Ref, ref_of
from steward.multigres import reasons
from steward.multigres.template_updates.candidate import UpdateInputs, describe_problems
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import UpdateDecision, decide_update
from steward.runtime.plan.dry_run import DryRunOutcome

_NOT_DESIRED: Final = "it is no longer part of the cluster"
_UNUSED_CLAIM: Final = "it is no longer used; pvcDeletionPolicy decides whether it is deleted"
_WAITING_MESSAGES: Final = {
    reasons.WAITING_FOR_APPROVAL: "will wait for approval",
    reasons.WAITING_FOR_WINDOW: "will wait for its window",
    reasons.ROLLED_BACK: "will stay on the revision that it was rolled back to",
}


class ClusterPreview(NamedTuple):
    """A cluster and the template revisions that the operator would use for it."""

    inputs: UpdateInputs
    decision: UpdateDecision

    @property
    def tree(self) -> dict[Ref, Manifest]:
        inputs, resolved = self.inputs, self.decision.candidate.resolved
        found = offline_tree(inputs.identity, inputs.spec, resolved, inputs.objects_version)
        return {ref_of(each): each for each in found}

    @property
    def problems(self) -> str:
        return describe_problems(self.decision.candidate.problems)


async def preview_clusters(
    client: Client, changed: list[Manifest], namespaces: Iterable[str]
) -> list[PreviewEntry]:
    """`changed` are the results of a server-side dry run, including defaults."""
    found: list[PreviewEntry] = []
    now = datetime.datetime.now(datetime.UTC)
    for namespace in sorted(set(namespaces)):
        snapshot = await read_snapshot(client, namespace)
        applied = [each for each in changed if each["metadata"]["namespace"] == namespace]
        found.extend(compare_snapshots(snapshot, snapshot.with_applied(applied), now))
    return found


def compare_snapshots(
    current: NamespaceSnapshot, changed: NamespaceSnapshot, now: datetime.datetime
) -> list[PreviewEntry]:
    """The effects of the change on all clusters. Pure."""
    before, after = _cluster_previews(current, now), _cluster_previews(changed, now)
    updated = {ref: each for ref, each in after.items() if not _is_blocked(each)}
    unchanged = {ref: each for ref, each in before.items() if ref in after}
    pending = [each for ref in sorted(after) for each in _template_entries(ref, before.get(ref), after[ref])]
    return [*compare_objects(_merged_trees(before), _merged_trees({**unchanged, **updated})), *pending]


def _cluster_previews(snapshot: NamespaceSnapshot, now: datetime.datetime) -> dict[Ref, ClusterPreview]:
    return {
        ref: ClusterPreview(each, decide_update(each))
        for ref, each in snapshot.all_update_inputs(now).items()
    }


def _is_blocked(preview: ClusterPreview) -> bool:
    """Whether the operator would leave the cluster unchanged."""
    return bool(preview.problems or preview.decision.lost)


def _template_entries(
    ref: Ref, before: ClusterPreview | None, after: ClusterPreview
) -> Iterator[PreviewEntry]:
    """Template changes that would not take effect and were not pending before."""
    if after.problems and (before is None or before.problems != after.problems):
        yield PreviewEntry(DryRunOutcome.REJECTED, ref, message=f"it would be stalled: {after.problems}")
    available = "" if before is None else before.decision.available_revision
    notice = after.decision.notice
    if not notice.is_available or after.decision.available_revision == available:
        return
    if refusal := update_refusal(after.inputs):
        yield PreviewEntry(DryRunOutcome.REJECTED, ref, message=refusal)
    else:
        message = with_update_command(notice.message, ref.key.name, ref.key.namespace)
        yield PreviewEntry(
            DryRunOutcome.DEFERRED, ref, message=f"{_WAITING_MESSAGES[notice.reason]}: {message}"
        )


def update_refusal(inputs: UpdateInputs) -> str:
    """Why the operator would not use the pending templates even if a user accepted them now; "" if it would."""
    accepted = inputs._replace(annotations={**inputs.annotations, APPLY_NOW: "true"})
    notice = decide_update(accepted).notice
    return notice.message if notice.reason == reasons.UPDATE_REFUSED else ""


def _merged_trees(previews: dict[Ref, ClusterPreview]) -> dict[Ref, Manifest]:
    return {ref: manifest for each in previews.values() for ref, manifest in each.tree.items()}


def compare_objects(before: dict[Ref, Manifest], after: dict[Ref, Manifest]) -> list[PreviewEntry]:
    """Created, changed and removed objects. Pure."""
    created = [PreviewEntry(DryRunOutcome.CREATE, ref) for ref in after if ref not in before]
    deleted = [_removed_entry(ref) for ref in before if ref not in after]
    changed = [ref for ref in after if ref in before and before[ref] != after[ref]]
    diffs = (
        (ref, tuple(manifest_diff(_without_unset(before[ref]), _without_unset(after[ref]))))
        for ref in changed
    )
    return [
        *deleted,
        *(PreviewEntry(DryRunOutcome.CHANGE, ref, diff) for ref, diff in diffs if diff),
        *created,
    ]


def _removed_entry(ref: Ref) -> PreviewEntry:
    if ref.kind == PERSISTENT_VOLUME_CLAIM:
        return PreviewEntry(DryRunOutcome.UNKNOWN, ref, message=_UNUSED_CLAIM)
    return PreviewEntry(DryRunOutcome.DELETE, ref, message=_NOT_DESIRED)


def _without_unset(value: Any) -> Any:
    """The value without unset fields, which must not appear in a diff."""
    if isinstance(value, dict):
        return {key: _without_unset(each) for key, each in value.items() if each is not UNSET}
    if isinstance(value, list | tuple):
        return [_without_unset(each) for each in value]
    return msgspec.to_builtins(value)
