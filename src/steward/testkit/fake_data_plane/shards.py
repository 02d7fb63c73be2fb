"""The shards of one cluster: their models, advanced from programs and records, and kept in a file.

The file keeps rules over a restart of the fake data plane, as the volumes of the real servers do. Servers with a record
are taken as started long ago: their Postgres ran before the restart, too.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from steward.local.state import replace_file
from steward.multigres.topology.store_records import SHUTDOWN, PoolerRecord
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFaults
from steward.testkit.fake_data_plane.programs import POOLER, DataPlaneProgram, ShardKey
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId, ShardRule
from steward.testkit.fake_data_plane.shard_model import (
    Pooler,
    PoolerState,
    ShardState,
    ShardView,
    Start,
    Timing,
    advance,
)

log = logging.getLogger(__name__)

LONG_AGO = -1e9


class ClusterState(NamedTuple):
    """The programs of a cluster, the faults of its shards and servers, and the current time."""

    programs: Sequence[DataPlaneProgram]
    may_lead: Callable[[DataPlaneProgram], bool]
    now: float
    faults: DataPlaneFaults = NO_FAULTS
    shard_faults: Callable[[ShardKey], DataPlaneFaults] = lambda shard: NO_FAULTS
    server_faults: Callable[[ShardKey, str], DataPlaneFaults] = lambda shard, server: NO_FAULTS
    volume: Callable[[DataPlaneProgram], str] = lambda program: ""


class RegisteredPoolers(NamedTuple):
    """The poolers that are running and registered or about to be, the records of all, and the policies of databases."""

    running: Sequence[DataPlaneProgram]
    records: Sequence[PoolerRecord]
    policies: Mapping[str, DurabilityPolicy]
    restorable: Callable[[ShardKey], str] = lambda shard: ""
    """The lineage of the newest backup of a shard."""


class KeptShard(msgspec.Struct, frozen=True):
    """A shard in the file; `leads` is the uid of the pod that acted as primary."""

    key: ShardKey
    rule: ShardRule
    leads: str
    lineage: str = ""


@dataclass
class ClusterShards:
    """The shards of one cluster."""

    timing: Timing
    file: Path
    views: dict[ShardKey, ShardView] = field(default_factory=dict)
    _is_loaded: bool = False
    _kept: tuple[KeptShard, ...] = ()

    def advance(self, cluster: ClusterState, registered: RegisteredPoolers) -> None:
        """Advance all shards to the time of the cluster's state."""
        poolers = _poolers_by_shard(cluster, registered)
        if not self._is_loaded:
            self._load(poolers, cluster)
        self.views = {
            shard: self._advanced(shard, found, cluster, registered) for shard, found in poolers.items()
        }
        self.save()

    def _advanced(
        self,
        shard: ShardKey,
        poolers: Mapping[ServerId, Pooler],
        cluster: ClusterState,
        registered: RegisteredPoolers,
    ) -> ShardView:
        before = self.views.get(shard)
        faults = cluster.faults | cluster.shard_faults(shard)
        state = ShardState() if before is None else before.state
        restorable = registered.restorable(shard)
        view = ShardView(state, poolers, faults, cluster.now, self.timing, restorable)
        policy = registered.policies.get(shard.database, DurabilityPolicy())
        return view._replace(state=advance(view, policy))

    def view_of(self, server: ServerId) -> ShardView | None:
        return next((view for view in self.views.values() if server in view.poolers), None)

    def primaries(self) -> dict[ServerId, ShardRule]:
        """The servers that report to be primary, with the rule of their shard."""
        return {
            server: view.state.rule
            for view in self.views.values()
            if view.state.rule is not None
            for server in view.primaries()
        }

    def next_change(self) -> float:
        """The time at which a shard changes by itself."""
        return min((view.next_change() for view in self.views.values()), default=math.inf)

    def has_absent_members(self) -> bool:
        """Whether a member of a cohort has no running pooler: it may be dropped, or come back, at any time."""
        return any(
            view.state.rule is not None and not view.state.rule.cohort <= view.state.starts.keys()
            for view in self.views.values()
        )

    def save(self) -> None:
        kept = tuple(
            KeptShard(key, view.state.rule, view.state.leading, view.state.lineage)
            for key, view in sorted(self.views.items())
            if view.state.rule is not None
        )
        if kept != self._kept:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self.file, msgspec.json.encode(kept).decode())
            self._kept = kept

    def delete(self) -> None:
        """Forget all shards, of a deleted cluster."""
        self.file.unlink(missing_ok=True)

    def _load(self, poolers: Mapping[ShardKey, Mapping[ServerId, Pooler]], cluster: ClusterState) -> None:
        self._is_loaded = True
        for kept in self._read_file():
            found = poolers.get(kept.key, {})
            starts = {server: Start(pooler.uid, LONG_AGO) for server, pooler in found.items()}
            known = dict.fromkeys(found, kept.rule)
            data = {server: pooler.volume for server, pooler in found.items()}
            state = ShardState(
                kept.rule, kept.leads, cluster.now, starts, {}, known, data, lineage=kept.lineage
            )
            # Streaming since long ago, too.
            state = state._replace(since=LONG_AGO) if kept.leads else state
            self.views[kept.key] = ShardView(state, found, NO_FAULTS, cluster.now, self.timing)

    def _read_file(self) -> tuple[KeptShard, ...]:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=tuple[KeptShard, ...])
        except FileNotFoundError:
            return ()
        except msgspec.MsgspecError as error:
            log.warning("%s is ignored: %s", self.file, error)
            return ()


def _poolers_by_shard(
    cluster: ClusterState, registered: RegisteredPoolers
) -> dict[ShardKey, dict[ServerId, Pooler]]:
    """Every pooler with a record or a program that is about to write one."""
    found: dict[ShardKey, dict[ServerId, Pooler]] = defaultdict(dict)
    for record in registered.records:
        state = PoolerState.SHUT_DOWN if record.lifecycle == SHUTDOWN else PoolerState.AWAY
        server = ServerId(record.cell, record.name)
        shard = ShardKey(record.database, record.table_group, record.shard)
        found[shard][server] = Pooler(server, "", state)
    for program in _poolers(registered.running):
        server = ServerId(program.cell, program.service_id)
        found[program.shard][server] = Pooler(
            server,
            program.uid,
            PoolerState.RUNNING,
            cluster.may_lead(program),
            cluster.server_faults(program.shard, program.service_id),
            cluster.volume(program),
            program.repository,
        )
    return dict(found)


def _poolers(programs: Iterable[DataPlaneProgram]) -> list[DataPlaneProgram]:
    return [program for program in programs if program.component == POOLER]
