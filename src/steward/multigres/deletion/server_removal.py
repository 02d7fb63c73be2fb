"""Decides which server of a shard leaves next: pools that shrink, and pools that the spec no longer has. Pure.

One server of the whole shard leaves at a time. The data plane counts it as a member of the cohort until an orchestrator
has dropped it, so the next one leaves only when that has happened; two members that end together may leave too few to
appoint a primary ever again. A primary is switched first. A server without which the durability policy cannot hold
stays. No wait ends by itself: it ends when its cause does, or with the annotation `FORCE`.

Where no server is to stay (all pools at 0 replicas), nothing is waited for.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steward.multigres import reasons
from steward.multigres.deletion.annotations import FORCE
from steward.multigres.rollout.pods import PoolState, ShardPods, unsettled
from steward.multigres.rollout.quorum import (
    can_meet_policy,
    cohort_of,
    describe_unreachable,
    first_outsider,
    keeps_quorum,
)
from steward.multigres.rollout.restarts import describe_server
from steward.multigres.rollout.switching import NO_OPTIONS, ChangeOptions, missing_primary_wait, switch_wait
from steward.multigres.rollout.volumes import ordinal_of
from steward.multigres.servers.assessment import ServerState

CURE = f'{FORCE}: "true" on its Shard removes servers without waiting'
NOT_SERVING = frozenset({ServerState.UNREGISTERED, ServerState.MISSING})
"""States of servers that are not waited for if they are to leave themselves, as broken ones are not."""


class RemovalDecision(NamedTuple):
    """The replicas that each pool may have now, by name. `leaves` is the server that leaves with this decision;
    `reason` and `message` say why others stay, `switch_from` which primary must hand over first."""

    replicas: Mapping[str, int]
    leaves: str = ""
    reason: str = ""
    message: str = ""
    switch_from: str = ""


class _Wait(NamedTuple):
    """Why a server stays for now."""

    reason: str
    message: str
    switch_from: str = ""


def decide_removal(pods: ShardPods, options: ChangeOptions = NO_OPTIONS) -> RemovalDecision:
    shrinking = [pool for pool in sorted(pods.pools) if pool.is_shrinking]
    if options.is_forced or is_stopping(pods):
        return RemovalDecision({pool.name: pool.desired_replicas for pool in pods.pools})
    if not shrinking:
        return _if_pool_counts(pods)
    current = {pool.name: max(pool.replicas, pool.desired_replicas) for pool in pods.pools}
    pool, wait = _next(pods, shrinking, options)
    if wait is not None:
        return RemovalDecision(current, "", wait.reason, f"{_subject(pool)} {wait.message}", wait.switch_from)
    return _removes(pods, pool, current)


def is_stopping(pods: ShardPods) -> bool:
    """Whether no server is to stay."""
    return not any(pool.desired_replicas for pool in pods.pools)


def _if_pool_counts(pods: ShardPods) -> RemovalDecision:
    """All servers have left; the cohort may still have those of a removed pool."""
    replicas = {pool.name: pool.desired_replicas for pool in pods.pools}
    held = next(
        (pool for pool in sorted(pods.pools) if pool.is_removed and counts_in_cohort(pods, pool)), None
    )
    if held is None:
        return RemovalDecision(replicas)
    message = f"{_subject(held)} until the shard's cohort no longer has its servers; {CURE}"
    return RemovalDecision(replicas, "", reasons.SCALING_DOWN, message)


def counts_in_cohort(pods: ShardPods, pool: PoolState) -> bool:
    """Whether the cohort has, or may have, a server of the pool. The record of its cell, and with it the mark that lets
    orchestrators drop the server, goes with the pool."""
    cohort = pods.servers.cohort
    if cohort is None:
        return bool(pods.servers.unknown) or not pods.servers.is_current
    return any(ordinal_of(name, pool.name) is not None for name in cohort)


def _removes(pods: ShardPods, pool: PoolState, current: Mapping[str, int]) -> RemovalDecision:
    server, others = pool.surplus[0], len(pods.surplus) - 1
    replicas = {**current, pool.name: pool.replicas - 1}
    message = f"{_subject(pool)} until {server} has left" if others or pool.is_removed else ""
    return RemovalDecision(replicas, server, reasons.SCALING_DOWN if message else "", message)


def _subject(pool: PoolState) -> str:
    if pool.is_removed:
        return f"removing {pool.name} waits"
    return f"scaling {pool.name} down from {pool.replicas} to {pool.desired_replicas} waits"


def _next(
    pods: ShardPods, shrinking: Sequence[PoolState], options: ChangeOptions
) -> tuple[PoolState, _Wait | None]:
    """The first pool whose highest server may leave, or the first one and why it may not."""
    in_order = sorted(shrinking, key=lambda pool: _order(pods, pool))
    waits = [(pool, _wait(pods, pool, options)) for pool in in_order]
    free = [(pool, wait) for pool, wait in waits if wait is None]
    # A switch may bring the primary to a server that stays; until then others of the shard are not disturbed.
    possible = [
        (pool, wait) for pool, wait in waits if wait and wait.reason != reasons.DURABILITY_WOULD_BREAK
    ]
    return [*free, *possible, *waits][0]


def _order(pods: ShardPods, pool: PoolState) -> tuple[bool, bool, str]:
    server = pool.surplus[0]
    return server == pods.primary, not is_broken(pods, server), pool.name


def is_broken(pods: ShardPods, server: str) -> bool:
    members = (member for member in pods.members if member.name == server)
    return any(map(pods.is_broken, members))


def _wait(pods: ShardPods, pool: PoolState, options: ChangeOptions) -> _Wait | None:
    server = pool.surplus[0]
    if pool.blocked_by:
        return _Wait(reasons.SCALING_DOWN, f"until {pool.blocked_by} is gone")
    if wait := _if_ending(pods) or _if_policy_breaks(pods, server) or _if_outdated_report(pods):
        return wait
    if _is_no_member(pods, server):
        return None
    return (
        _if_unknown(pods, options)
        or _if_still_member(pods)
        or _if_unready(pods, server)
        or _if_quorum_breaks(pods, server)
        or _if_primary(pods, server, options)
    )


def _if_ending(pods: ShardPods) -> _Wait | None:
    """While a server ends, or another one is being replaced."""
    expected = pods.server_ids
    ending = [member.name for member in pods.members if member.name not in expected or member.is_terminating]
    return _Wait(reasons.SCALING_DOWN, f"until pod {ending[0]} is gone") if ending else None


def _if_policy_breaks(pods: ShardPods, server: str) -> _Wait | None:
    if can_meet_policy(pods, (name for name in pods.server_ids if name != server)):
        return None
    needed = pods.servers.policy.describe()
    message = f"because the durability policy needs {needed}: without {server} no write would be acknowledged"
    cure = "ask for more servers, or for 0 replicas in all pools"
    return _Wait(reasons.DURABILITY_WOULD_BREAK, f"{message}; {cure}; {CURE}")


def _if_outdated_report(pods: ShardPods) -> _Wait | None:
    if pods.servers.is_current:
        return None
    return _Wait(reasons.SCALING_DOWN, f"until its servers report their state after the last change; {CURE}")


def _is_no_member(pods: ShardPods, server: str) -> bool:
    """Whether nothing depends on a server: it is no member of the cohort and not about to become one."""
    cohort = pods.servers.cohort
    is_ready = pods.state(server) is ServerState.READY
    return cohort is not None and server not in cohort and not is_ready and server != pods.primary


def _if_unknown(pods: ShardPods, options: ChangeOptions) -> _Wait | None:
    servers = pods.servers
    if servers.unknown:
        reason = reasons.STATE_UNKNOWN if pods.is_long_unknown else reasons.SCALING_DOWN
        return _Wait(reason, f"because {servers.unknown}; {CURE}")
    if servers.cohort is None:
        return _Wait(reasons.STATE_UNKNOWN, f"until the members of the shard's cohort are known; {CURE}")
    if servers.primary is None:
        return _Wait(*missing_primary_wait(options.last_switch, CURE))
    return None


def _if_still_member(pods: ShardPods) -> _Wait | None:
    """Until the cohort has dropped the server that left last."""
    gone = sorted((pods.servers.cohort or frozenset()) - pods.server_ids.keys())
    if not gone:
        return None
    return _Wait(reasons.SCALING_DOWN, f"until the shard's cohort no longer has {gone[0]}; {CURE}")


def _if_unready(pods: ShardPods, server: str) -> _Wait | None:
    others = _waited_for(pods, server)
    if (waited_for := next(unsettled(pods, others), None)) is not None:
        return _Wait(reasons.NO_OTHER_READY, f"until {describe_server(waited_for)}; {CURE}")
    if outsider := first_outsider(pods, others):
        message = f"until {outsider} is a member of the shard's cohort; {CURE}"
        return _Wait(reasons.NO_OTHER_READY, message)
    return None


def _waited_for(pods: ShardPods, server: str) -> list[str]:
    """All other servers, except those that are to leave and serve nothing."""
    surplus = pods.surplus
    ignored = {name for name in surplus if pods.state(name) in NOT_SERVING or is_broken(pods, name)}
    return sorted(pods.server_ids.keys() - ignored - {server})


def _if_quorum_breaks(pods: ShardPods, server: str) -> _Wait | None:
    if not pods.servers.takes_writes:
        return _Wait(reasons.NO_OTHER_READY, f"until the primary {pods.primary} takes writes; {CURE}")
    if is_broken(pods, server) or keeps_quorum(pods, cohort_of(pods).without(server)):
        return None
    missing = describe_unreachable(cohort_of(pods))
    message = f"until the shard's cohort keeps its quorum without {server}{missing}; {CURE}"
    return _Wait(reasons.NO_OTHER_READY, message)


def _if_primary(pods: ShardPods, server: str, options: ChangeOptions) -> _Wait | None:
    if server != pods.primary:
        return None
    wait = switch_wait(server, options.last_switch, CURE)
    return _Wait(wait.reason, wait.message, server)
