"""Decides which server of a shard is restarted next. Pure.

At most one server of a shard is away at a time, in all of its pools and cells. A server is restarted only while
Postgres of all others is ready and streams, by an observation that began after the last change of the pods. The primary
is last, and if another server can lead, it is switched first: gateways buffer writes through a planned switch, while
an election after the loss of a primary takes much longer.

There are two exceptions. A server that is broken and outdated serves no client, so replacing it costs nothing, and
waiting for it would keep a bad spec from ever being corrected. A shard of one server has no other to wait for. A server
that is broken on the newest revision stops the rollout until the spec changes.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.multigres import reasons
from steward.multigres.rollout.pods import Member, ShardPods, unsettled
from steward.multigres.rollout.quorum import (
    can_meet_policy,
    cohort_of,
    describe_unreachable,
    first_outsider,
    keeps_quorum,
)
from steward.multigres.rollout.switching import NO_OPTIONS, ChangeOptions, missing_primary_wait, switch_wait
from steward.multigres.servers.assessment import Server

FORCE_ROLLOUT = "multigres.com/force-rollout"
"""Set by users on a Shard or its cluster: restarts servers without a switch and without a report about Postgres."""
CURE = f'{FORCE_ROLLOUT}: "true" on its Shard continues without waiting'


class RolloutDecision(NamedTuple):
    """The next step of a rolling update, if one is in progress. `switch_from` is the primary that must hand over
    before its pod is replaced."""

    is_rolling: bool
    reason: str
    message: str
    replace: Member | None = None
    problem: str = ""
    switch_from: str = ""


REVISION_UNKNOWN = RolloutDecision(
    False, reasons.REVISION_PENDING, "a StatefulSet has yet to name its newest revision"
)
UP_TO_DATE = RolloutDecision(False, reasons.PODS_UP_TO_DATE, "every pod runs the newest revision")


def is_rollout_forced(own: Mapping[str, str], cluster: Mapping[str, str]) -> bool:
    value = own.get(FORCE_ROLLOUT, cluster.get(FORCE_ROLLOUT, ""))
    return value.strip().lower() == "true"


def decide_rollout(pods: ShardPods, options: ChangeOptions = NO_OPTIONS) -> RolloutDecision:
    """The next step of a rolling update."""
    members = pods.staying_members
    unknown = [pool.name for pool in sorted(pods.pools) if not pool.is_removed and not pool.is_observed]
    outdated = [member for member in members if member.is_outdated and not member.is_terminating]
    if not any(member.is_outdated for member in members):
        return REVISION_UNKNOWN if unknown else UP_TO_DATE
    if unknown:
        return _waits(f"waits until the new revision of {unknown[0]} is known")
    if pods.away:
        return _waits(f"waits until pod {pods.away[0]} is replaced, {len(outdated)} more to go")
    return (
        _if_broken(pods, outdated)
        or _if_pod_unready(pods, outdated, options)
        or _next(pods, outdated, options)
    )


def _if_broken(pods: ShardPods, outdated: Sequence[Member]) -> RolloutDecision | None:
    """A broken outdated server is replaced first; a broken new one stops the rollout."""
    replaceable = _primary_last([member for member in outdated if pods.is_broken(member)], pods.primary)
    if replaceable:
        return _replaces(replaceable[0], outdated)
    problem = next(filter(None, map(pods.problem, pods.staying_members)), "")
    if not problem:
        return None
    cure = "correct the spec, and it continues by itself"
    message = f"stopped with {len(outdated)} pods to go: {problem}; {cure}"
    return RolloutDecision(True, reasons.ROLLOUT_STOPPED, message, problem=f"the rolling update {message}")


def _if_pod_unready(
    pods: ShardPods, outdated: Sequence[Member], options: ChangeOptions
) -> RolloutDecision | None:
    unready = [member for member in pods.staying_members if not member.is_ready]
    if not unready or unready == [_only_unsettled(pods, outdated, options)]:
        return None
    return _waits(f"waits until pod {unready[0].name} is ready, {len(outdated)} more to go")


def _next(pods: ShardPods, outdated: Sequence[Member], options: ChangeOptions) -> RolloutDecision:
    if len(pods.server_ids) == 1:
        return _restarts_only_server(outdated[0])
    if options.is_forced:
        return _replaces(_primary_last(outdated, pods.primary)[0], outdated)
    if waiting := _if_unknown(pods, outdated, options):
        return waiting
    member = _only_unsettled(pods, outdated, options) or _primary_last(outdated, pods.primary)[0]
    return (
        _if_handed_over(pods, member, outdated, options)
        or _if_unsettled(pods, member, outdated)
        or _if_primary(pods, member, outdated, options)
    )


def _if_handed_over(
    pods: ShardPods, member: Member, outdated: Sequence[Member], options: ChangeOptions
) -> RolloutDecision | None:
    """A server that has just handed over ends when it streams from the new primary: then the switch is complete."""
    last = options.last_switch
    if last is None or last.primary != member.name or member.name == pods.primary:
        return None
    waited_for = next(unsettled(pods, [member.name]), None)
    if waited_for is None:
        return None
    return _waits(f"waits until {describe_server(waited_for)}, {len(outdated)} more to go")


def _if_unknown(
    pods: ShardPods, outdated: Sequence[Member], options: ChangeOptions
) -> RolloutDecision | None:
    servers, left = pods.servers, f"{len(outdated)} more to go"
    if not servers.is_current:
        return _waits(f"waits until its servers report their state after the last change, {left}")
    if servers.unknown:
        reason = reasons.STATE_UNKNOWN if pods.is_long_unknown else reasons.ROLLING
        return _waits(f"waits: {servers.unknown}; {CURE}, {left}", reason)
    if servers.primary is None:
        wait = missing_primary_wait(options.last_switch, CURE)
        return _waits(f"waits {wait.message}, {left}", wait.reason)
    return None


def _if_unsettled(pods: ShardPods, member: Member, outdated: Sequence[Member]) -> RolloutDecision | None:
    others = [name for name in pods.server_ids if name != member.name and not _may_be_ignored(pods, name)]
    left = f"{len(outdated)} more to go"
    if (waited_for := next(unsettled(pods, others), None)) is not None:
        return _waits(f"waits until {describe_server(waited_for)}, {left}")
    if outsider := first_outsider(pods, others):
        return _waits(f"waits until {outsider} is a member of the shard's cohort, {left}")
    if can_meet_policy(pods, others) and not keeps_quorum(pods, cohort_of(pods).without(member.name)):
        missing = describe_unreachable(cohort_of(pods))
        return _waits(
            f"waits until the shard's cohort keeps its quorum without {member.name}{missing}, {left}"
        )
    if not pods.servers.takes_writes:
        return _waits(f"waits until the primary {pods.primary} takes writes, {left}")
    return None


def _may_be_ignored(pods: ShardPods, name: str) -> bool:
    """A broken server that is to leave is not waited for: nothing makes it ready."""
    return name in pods.surplus and any(
        member.name == name and pods.is_broken(member) for member in pods.members
    )


def _if_primary(
    pods: ShardPods, member: Member, outdated: Sequence[Member], options: ChangeOptions
) -> RolloutDecision:
    if member.name != pods.primary:
        return _replaces(member, outdated)
    wait = switch_wait(member.name, options.last_switch, CURE)
    message = f"waits {wait.message}, {len(outdated)} more to go"
    return RolloutDecision(True, wait.reason, message, switch_from=member.name)


def _only_unsettled(pods: ShardPods, outdated: Sequence[Member], options: ChangeOptions) -> Member | None:
    """The only server that is not ready, if it is outdated and not the primary: replacing it now costs nothing. A
    server that has just handed over is about to stream: it may be the standby that the new primary needs."""
    if not pods.servers.is_current or pods.primary is None:
        return None
    found = [server.name for server in unsettled(pods, pods.server_ids)]
    last = options.last_switch
    if len(found) != 1 or found[0] in (pods.primary, None if last is None else last.primary):
        return None
    return next((member for member in outdated if member.name == found[0]), None)


def after_removal(decision: RolloutDecision, server: str) -> RolloutDecision:
    """No pod is replaced while another server leaves."""
    if not server or decision.replace is None:
        return decision
    return _waits(f"waits until {server} has left")


def describe_server(server: Server) -> str:
    """What is waited for, for a message: `Postgres of a-1 is ready (Starting: restores a backup)`."""
    detail = f": {server.detail}" if server.detail else ""
    return f"Postgres of {server.name} is ready and streams (now {server.state}{detail})"


def _primary_last(members: Sequence[Member], primary: str | None) -> list[Member]:
    return sorted(members, key=lambda member: member.name == primary)


def _replaces(member: Member, outdated: Sequence[Member]) -> RolloutDecision:
    message = f"replaces pod {member.name}, {len(outdated) - 1} more to go"
    return RolloutDecision(True, reasons.ROLLING, message, member)


def _restarts_only_server(member: Member) -> RolloutDecision:
    """With a reason of its own, so that an event announces it."""
    message = (
        f"replaces pod {member.name}, the only server of the shard: nothing serves until it is ready again"
    )
    return RolloutDecision(True, reasons.RESTARTING_ONLY_SERVER, message, member)


def _waits(message: str, reason: str = reasons.ROLLING) -> RolloutDecision:
    return RolloutDecision(True, reason, message)
