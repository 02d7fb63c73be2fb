"""The Postgres servers of one shard over time: starting, streaming, elections, changes of the cohort. Pure.

`advance` takes the state before, what is known about the poolers, and the time. The servers follow these rules:

- Postgres is ready `start` seconds after its pooler, first as a standby. A standby streams `stream` seconds after both
  it and the primary are ready.
- The first leader is elected when the ready servers meet the durability policy; they are the first cohort. Servers with
  different repositories never elect one.
- A leader that is lost or has resigned is replaced `failover` seconds later, if enough members of the cohort are ready.
  Otherwise the shard has no primary until members come back.
- A server with an empty volume restores the newest backup of its repository before it starts, and waits while the
  repository cannot be read. Only if there is no backup does the first leader begin with data of its own.
- While the primary takes writes, a server joins the cohort when it streams, and one member at a time is dropped: one
  that was shut down in order or is quarantined, if the others meet the policy. A member that is only away stays.
  Without a record it is dropped after `forget` seconds, if the others could replace the leader without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.rule import (
    DurabilityPolicy,
    ServerId,
    ShardRule,
    has_quorum,
    may_drop,
    survives_without,
)


class Timing(NamedTuple):
    """Seconds that the steps take; those of the real data plane are longer."""

    start: float = 2.0
    stream: float = 1.0
    failover: float = 2.0
    switch: float = 1.0
    forget: float = 4 * 3600.0
    backup: float = 2.0
    restore: float = 0.0


DEFAULT_TIMING = Timing()
UNREADABLE_REPOSITORY = frozenset({DataPlaneFault.REPOSITORY_UNREACHABLE, DataPlaneFault.WRONG_CREDENTIALS})


class PoolerState(Enum):
    RUNNING = "running"
    AWAY = "away"  # it has a record and does not answer
    SHUT_DOWN = "shut down"  # its record says so


class Pooler(NamedTuple):
    """What is known about a pooler that has a record or is about to write one."""

    id: ServerId
    uid: str
    state: PoolerState
    may_lead: bool = True
    faults: DataPlaneFaults = NO_FAULTS
    volume: str = ""
    """The uid of its volume claim; "" if it is unknown."""
    repository: str = ""
    """Where its backups are."""


class Start(NamedTuple):
    """When the Postgres of this pod began to start; infinite while it cannot."""

    uid: str
    at: float


class ShardState(NamedTuple):
    """`leading` is the uid of the pod that acts as primary; "" if none does, since `since`."""

    rule: ShardRule | None = None
    leading: str = ""
    since: float = 0.0
    starts: Mapping[ServerId, Start] = {}
    missing: Mapping[ServerId, float] = {}
    known_rules: Mapping[ServerId, ShardRule] = {}
    """The last rule that each server has received."""
    data: Mapping[ServerId, str] = {}
    """The volumes with a data directory."""
    lineage: str = ""
    """Which data the shard has: named after the pod that made it."""


class ShardView(NamedTuple):
    """A shard at one moment; reads the state, changes nothing."""

    state: ShardState
    poolers: Mapping[ServerId, Pooler]
    faults: DataPlaneFaults
    now: float
    timing: Timing
    restorable: str = ""
    """The lineage of the newest backup in the repository; "" if it has none."""

    @property
    def primary(self) -> ServerId | None:
        rule = self.state.rule
        return rule.leader if rule is not None and self.state.leading else None

    def primaries(self) -> frozenset[ServerId]:
        """The servers that report to be primary; more than one only by a fault."""
        if self.primary is None:
            return frozenset()
        count = 2 if DataPlaneFault.TWO_PRIMARIES in self.faults else 1
        others = sorted(server for server in self.poolers if server != self.primary and self.is_ready(server))
        return frozenset([self.primary, *others][:count])

    def has_data(self, server: ServerId) -> bool:
        """Whether its volume has a data directory, which the first start makes."""
        pooler = self.poolers.get(server)
        return pooler is not None and self.state.data.get(server) == pooler.volume

    def is_running(self, server: ServerId) -> bool:
        """Whether the process of Postgres exists."""
        pooler, start = self.poolers.get(server), self.state.starts.get(server)
        return pooler is not None and start is not None and not _cannot_run(pooler)

    def is_ready(self, server: ServerId) -> bool:
        return self.is_running(server) and self.ready_at(server) <= self.now

    def ready_at(self, server: ServerId) -> float:
        return self.state.starts[server].at + self.timing.start

    def is_streaming(self, server: ServerId) -> bool:
        return self.streams_at(server) <= self.now

    def streams_at(self, server: ServerId) -> float:
        """When the server streams, if nothing changes; infinite if it never does."""
        if self.primary is None or server in self.primaries() or not self.is_running(server):
            return math.inf
        if DataPlaneFault.NEVER_STREAMS in self.poolers[server].faults:
            return math.inf
        return max(self.ready_at(server), self.state.since) + self.timing.stream

    def followers(self) -> frozenset[ServerId]:
        return frozenset(server for server in self.poolers if self.is_streaming(server))

    @property
    def takes_writes(self) -> bool:
        rule = self.state.rule
        if rule is None or self.primary is None:
            return False
        return rule.policy.is_met_by((self.followers() & rule.cohort) | {self.primary})

    def ready_servers(self) -> frozenset[ServerId]:
        return frozenset(server for server in self.poolers if self.is_ready(server))

    def next_change(self) -> float:
        """The time at which the shard changes by itself; infinite if it does not."""
        starts = [self.ready_at(server) for server in self.state.starts]
        streams = [self.streams_at(server) for server in self.poolers]
        election = (
            [] if self.state.leading or self.state.rule is None else [self.state.since + self.timing.failover]
        )
        return min((at for at in (*starts, *streams, *election) if at > self.now), default=math.inf)


def _cannot_run(pooler: Pooler) -> bool:
    return bool(pooler.faults & {DataPlaneFault.POSTGRES_DOWN, DataPlaneFault.QUARANTINED})


def advance(view: ShardView, policy: DurabilityPolicy) -> ShardState:
    """The state at the time of the view; `policy` is that of the first rule."""
    view = view._replace(state=_with_starts(view))
    view = view._replace(state=_without_lost_leader(view))
    view = view._replace(state=_with_leader(view, policy))
    view = view._replace(state=_with_members(view))
    return _with_known_rules(view)


def _with_starts(view: ShardView) -> ShardState:
    running = [pooler for pooler in view.poolers.values() if pooler.state is PoolerState.RUNNING]
    starts = {pooler.id: _start(view, pooler) for pooler in running}
    restored = {pooler.id: pooler.volume for pooler in running if starts[pooler.id].at != math.inf}
    return view.state._replace(starts=starts, data={**view.state.data, **restored})


def _start(view: ShardView, pooler: Pooler) -> Start:
    before, is_empty = view.state.starts.get(pooler.id), pooler.volume != view.state.data.get(pooler.id, "")
    if _cannot_run(pooler) or DataPlaneFault.SLOW_POSTGRES in pooler.faults:
        return Start(pooler.uid, math.inf)
    if is_empty and view.faults & UNREADABLE_REPOSITORY:
        return Start(pooler.uid, math.inf)
    if before is not None and before.uid == pooler.uid and before.at != math.inf and not is_empty:
        return before
    return Start(pooler.uid, view.now + view.timing.restore if is_empty else view.now)


def _without_lost_leader(view: ShardView) -> ShardState:
    state, rule = view.state, view.state.rule
    if rule is None or not state.leading:
        return state
    is_same = rule.leader in state.starts and state.starts[rule.leader].uid == state.leading
    if is_same and view.is_ready(rule.leader) and DataPlaneFault.NO_PRIMARY not in view.faults:
        return state
    return state._replace(leading="", since=view.now)


def _with_leader(view: ShardView, policy: DurabilityPolicy) -> ShardState:
    state, ready = view.state, view.ready_servers()
    if state.leading or DataPlaneFault.NO_PRIMARY in view.faults:
        return state
    if state.rule is None:
        # Servers that start from repositories of their own have different data.
        repositories = {view.poolers[server].repository for server in ready}
        if not policy.is_met_by(ready) or len(repositories) > 1:
            return state
        leader = _choose_leader(view, ready)
        lineage = view.restorable or view.poolers[leader].uid
        return _led(view, ShardRule(1, 0, leader, ready, policy))._replace(lineage=lineage)
    if view.now - state.since < view.timing.failover or not has_quorum(state.rule, ready):
        return state
    return _led(view, state.rule.elect(_choose_leader(view, ready & state.rule.cohort)))


def _choose_leader(view: ShardView, ready: Iterable[ServerId]) -> ServerId:
    """Another server than the last leader, and one of a readWrite pool, if there is such a one."""
    last = view.state.rule.leader if view.state.rule is not None else None
    return min(ready, key=lambda server: (not view.poolers[server].may_lead, server == last, server.name))


def _led(view: ShardView, rule: ShardRule) -> ShardState:
    known = {**view.state.known_rules, **dict.fromkeys(rule.cohort & view.ready_servers(), rule)}
    uid = view.poolers[rule.leader].uid
    return view.state._replace(rule=rule, leading=uid, since=view.now, known_rules=known)


def _with_members(view: ShardView) -> ShardState:
    state, rule = view.state, view.state.rule
    if rule is None:
        return state
    gone = {
        member: state.missing.get(member, view.now) for member in rule.cohort if member not in view.poolers
    }
    state = state._replace(missing=gone)
    if not view.takes_writes:
        return state
    joining = {
        server for server in view.followers() if DataPlaneFault.QUARANTINED not in view.poolers[server].faults
    }
    dropped = next((member for member in sorted(rule.cohort) if _is_dropped(view, member, gone)), None)
    return state._replace(rule=rule.with_cohort((rule.cohort | joining) - {dropped}))


def _is_dropped(view: ShardView, member: ServerId, gone: Mapping[ServerId, float]) -> bool:
    rule, pooler = view.state.rule, view.poolers.get(member)
    assert rule is not None
    if pooler is None:
        return view.now - gone[member] >= view.timing.forget and survives_without(rule, member)
    has_left = pooler.state is PoolerState.SHUT_DOWN or DataPlaneFault.QUARANTINED in pooler.faults
    return has_left and may_drop(rule, member)


def _with_known_rules(view: ShardView) -> ShardState:
    rule = view.state.rule
    if rule is None or view.primary is None:
        return view.state
    informed = {view.primary, *view.followers()}
    known = {server: each for server, each in view.state.known_rules.items() if server in view.poolers}
    return view.state._replace(known_rules={**known, **dict.fromkeys(informed, rule)})


def resign(view: ShardView) -> ShardState:
    """The state after the primary was asked to resign: it restarts as a standby, and the election begins later."""
    state, primary = view.state, view.primary
    if primary is None:
        return state
    starts = {**state.starts, primary: Start(state.leading, view.now)}
    return state._replace(leading="", since=view.now + view.timing.switch, starts=starts)


def install_rule(view: ShardView, rule: ShardRule) -> ShardState:
    """The state after a rule was forced, whatever the members of the previous one say."""
    return _led(view, rule)
