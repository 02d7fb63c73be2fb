"""Decides when a cluster moves to the newest version of its pods, which a new version of the operator brings. Pure.

- A cluster that the user accepts it for moves at once.
- Under `Auto`, and in a window, a cluster moves when it is ready and fewer than the allowed number of clusters are
  moving. One that is not ready would occupy a slot until a user repairs it; it waits instead.
- A moving cluster occupies its slot until it is ready again with all pods replaced. One that never becomes ready keeps
  it: a version that breaks clusters must not reach the others.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.multigres import reasons
from steward.multigres.api.compute import MultiOrch
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.objects.versions import (
    GATEWAYS,
    NEWEST,
    ORCHESTRATORS,
    POSTGRES_SERVERS,
    version_of,
    versions_after,
)
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.template_updates.candidate import MANUAL, WINDOW, UpdateInputs
from steward.multigres.template_updates.notices import (
    annotate_instruction,
    approval_instruction,
    window_message,
)

OPERATOR_UPDATE = "OperatorUpdateAvailable"
"""The condition of a cluster; it only exists while its pods are not of the newest version, or not complete."""
MAX_NAMED_CLUSTERS = 3


class VersionInputs(NamedTuple):
    """Inputs of a decision. `others` are the clusters that occupy a slot, without this one."""

    active: int
    mode: str
    is_accepted: bool
    window_is_open: bool
    is_settled: bool
    """Ready, with every pod as the active version builds it."""
    is_moving: bool
    """Whether this cluster occupies a slot."""
    others: tuple[Key, ...]
    slots: int
    newest: int = NEWEST


class VersionDecision(NamedTuple):
    """The version to build, and why a newer one waits or is not complete; no reason if there is nothing to say."""

    version: int
    reason: str = ""
    others: tuple[Key, ...] = ()

    @property
    def is_moving(self) -> bool:
        return self.reason == reasons.OPERATOR_UPDATE_IN_PROGRESS


UP_TO_DATE = VersionDecision(NEWEST)


def active_version(written: Iterable[int | Unset]) -> int:
    """The version of a cluster, from those that its children name: the first child that is written records the move,
    and after a crash the others follow. A cluster without children starts with the newest."""
    return max(map(version_of, written), default=NEWEST)


def decide_version(inputs: VersionInputs) -> VersionDecision:
    in_progress = VersionDecision(inputs.newest, reasons.OPERATOR_UPDATE_IN_PROGRESS)
    if inputs.active >= inputs.newest:
        return in_progress if inputs.is_moving and not inputs.is_settled else VersionDecision(inputs.newest)
    if inputs.is_moving or inputs.is_accepted:
        return in_progress
    if reason := _waiting_reason(inputs):
        return VersionDecision(inputs.active, reason, inputs.others)
    return in_progress


def _waiting_reason(inputs: VersionInputs) -> str:
    if inputs.mode == MANUAL:
        return reasons.WAITING_FOR_APPROVAL
    if inputs.mode == WINDOW and not inputs.window_is_open:
        return reasons.WAITING_FOR_WINDOW
    if not inputs.is_settled:
        return reasons.WAITING_FOR_READY
    return reasons.WAITING_FOR_OTHER_CLUSTERS if len(inputs.others) >= inputs.slots else ""


class VersionNotice(NamedTuple):
    """What the message about a decision names."""

    inputs: UpdateInputs
    resolved: ResolvedCluster
    revision: str
    """The revision that the user would accept."""


def describe_decision(decision: VersionDecision, notice: VersionNotice) -> str:
    """The message of the condition; empty without a reason."""
    if not decision.reason:
        return ""
    if decision.is_moving:
        return f"Pods change to version {decision.version} of the operator's objects, until all of them are ready"
    return f"{_describe_changes(notice)}. {_describe_wait(decision, notice)}"


def _describe_changes(notice: VersionNotice) -> str:
    pending = versions_after(notice.inputs.objects_version)
    changes = "; ".join(change for version in pending for change in version.changes)
    restarts = {name for version in pending for name in version.restarts}
    counts = ", ".join(
        f"{count} {name.removesuffix('s') if count == 1 else name}"
        for name, count in _counts(notice.resolved)
        if name in restarts
    )
    return f"This version of the operator changes pods: {changes}. It restarts {counts}"


def _counts(resolved: ResolvedCluster) -> Iterator[tuple[str, int]]:
    pools = [pool for shard in resolved.shards() for pool in shard.pools.values()]
    servers = sum(len(or_default(pool.cells, [])) * or_default(pool.replicas_per_cell, 0) for pool in pools)
    yield POSTGRES_SERVERS, servers
    yield GATEWAYS, sum(or_default(cell.gateway.replicas, 1) for cell in resolved.cells)
    orchestrators = [or_default(each.shard.multiorch, MultiOrch()) for each in resolved.shards()]
    yield (
        ORCHESTRATORS,
        sum(len(or_default(each.cells, [])) * or_default(each.replicas, 1) for each in orchestrators),
    )


def _describe_wait(decision: VersionDecision, notice: VersionNotice) -> str:
    now = annotate_instruction(notice.inputs)
    if decision.reason == reasons.WAITING_FOR_APPROVAL:
        return f"To apply, {approval_instruction(notice.inputs, notice.revision)}"
    if decision.reason == reasons.WAITING_FOR_WINDOW:
        return f"{window_message(notice.inputs)}, or {now}"
    if decision.reason == reasons.WAITING_FOR_READY:
        return f"It applies when the cluster is ready and all pods are replaced; to apply it now, {now}"
    return f"It applies after {_describe_clusters(decision.others)}; to apply it now, {now}"


def _describe_clusters(clusters: tuple[Key, ...]) -> str:
    named = ", ".join(str(key) for key in clusters[:MAX_NAMED_CLUSTERS])
    more = len(clusters) - MAX_NAMED_CLUSTERS
    return f"{named} and {more} more" if more > 0 else named
