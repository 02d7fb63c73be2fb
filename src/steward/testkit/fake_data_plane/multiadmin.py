"""multiadmin of one cluster: the routes of its REST API that the operator and users call.

Poolers are read from the topology server for every call. The state of a Postgres comes from the model of its shard, as
the real multiadmin asks the pooler for it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import msgspec
from aiohttp import web

from steward.etcd.errors import EtcdError
from steward.kube.clock import Clock
from steward.multigres.topology.protobuf import DecodedMessage, MalformedRecord
from steward.multigres.topology.store_records import decode_pooler
from steward.testkit.fake_data_plane import multiadmin_answers as answers
from steward.testkit.fake_data_plane.backups.multiadmin import BackupCall, MultiadminBackups
from steward.testkit.fake_data_plane.backups.stored import ClusterRepositories
from steward.testkit.fake_data_plane.faults import DataPlaneFault
from steward.testkit.fake_data_plane.multiadmin_answers import Json, MultiadminError, StatusRequest
from steward.testkit.fake_data_plane.programs import ShardKey
from steward.testkit.fake_data_plane.records import Role
from steward.testkit.fake_data_plane.rule import ServerId
from steward.testkit.fake_data_plane.rule_change import proposed_rule
from steward.testkit.fake_data_plane.shard_model import (
    PoolerState,
    ShardState,
    ShardView,
    install_rule,
    resign,
)
from steward.testkit.fake_data_plane.topology_reader import TopologyRecords

UNKNOWN = 2


class ServedCluster(Protocol):
    """What multiadmin needs of its cluster."""

    async def read_topology(self) -> TopologyRecords: ...

    def view(self, shard: ShardKey) -> ShardView | None:
        """The shard at this moment."""
        ...

    def replace_state(self, shard: ShardKey, state: ShardState) -> None: ...


class Call(NamedTuple):
    """A request: the parts of its path, its query, and its decoded body."""

    parts: tuple[str, ...]
    query: Mapping[str, str]
    body: Json

    @property
    def shard(self) -> ShardKey:
        return ShardKey(*self.parts)


Route = Callable[[Call], Awaitable[Json]]


class Multiadmin:
    def __init__(
        self, cluster: ServedCluster, clock: Clock, repositories: ClusterRepositories | None = None
    ) -> None:
        self._cluster = cluster
        self.backups = MultiadminBackups(cluster.view, clock, repositories)
        self._clock = clock
        self._dialed: dict[ServerId, str] = {}
        self._routes: tuple[tuple[str, re.Pattern[str], Route], ...] = (
            ("GET", re.compile(r"/api/v1/poolers"), self._poolers),
            ("GET", re.compile(r"/api/v1/poolers/([^/]+)/([^/]+)/status"), self._status),
            (
                "POST",
                re.compile(r"/api/v1/shards/([^/]+)/([^/]+)/([^/]+)/switch-primary"),
                self._switch_primary,
            ),
            ("POST", re.compile(r"/api/v1/shards/([^/]+)/([^/]+)/([^/]+)/rule-change"), self._change_rule),
            ("GET", re.compile(r"/api/v1/jobs/([^/]+)"), self._job),
            ("GET", re.compile(r"/api/v1/backups"), self._backups(self.backups.list)),
            ("POST", re.compile(r"/api/v1/backups"), self._backups(self.backups.start)),
            ("POST", re.compile(r"/api/v1/backups/verify"), self._backups(self.backups.verify)),
            ("POST", re.compile(r"/api/v1/backups/expire"), self._backups(self.backups.expire)),
        )

    async def serve(self, request: web.BaseRequest) -> web.Response:
        if request.method == "POST" and request.content_type != "application/json":
            return web.Response(status=415)
        try:
            answer, status = await self._answer(request), 200
        except MultiadminError as error:
            answer, status = error.body(), error.http_status
        except (EtcdError, MalformedRecord) as error:
            failure = MultiadminError(answers.INTERNAL, f"failed to retrieve cell names: {error}")
            answer, status = failure.body(), failure.http_status
        return web.Response(status=status, body=msgspec.json.encode(answer), content_type="application/json")

    async def _answer(self, request: web.BaseRequest) -> Json:
        for method, pattern, route in self._routes:
            if request.method == method and (found := pattern.fullmatch(request.path)):
                return await route(Call(found.groups(), request.query, _decode(await request.read())))
        raise MultiadminError(answers.NOT_FOUND, "Not Found")

    async def _poolers(self, call: Call) -> Json:
        if call.query.get("shard"):
            # The real one refuses its own filter: it never passes the table group.
            raise MultiadminError(UNKNOWN, "partial results: shard without table group")
        topology = await self._cluster.read_topology()
        found = [answers.pooler_json(value) for value in topology.pooler_values()]
        cells, database = call.query.get("cells", ""), call.query.get("database", "")
        kept = [
            pooler
            for pooler in found
            if (not cells or pooler["id"]["cell"] in cells.split(","))
            and (not database or pooler["shardKey"]["database"] == database)
        ]
        return answers.without_zeros({"poolers": kept})

    async def _status(self, call: Call) -> Json:
        server = ServerId(*call.parts)
        record = next(
            (
                each
                for each in (await self._cluster.read_topology()).poolers()
                if (each.cell, each.name) == server
            ),
            None,
        )
        if record is None:
            raise MultiadminError(answers.NOT_FOUND, f"pooler '{server.cell}/{server.name}' not found")
        view = self._cluster.view(ShardKey(record.database, record.table_group, record.shard))
        self._dial(view, server)
        assert view is not None
        return answers.status_json(StatusRequest(view, server, record.shard, self._time()))

    def _time(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC)

    def _dial(self, view: ShardView | None, server: ServerId) -> None:
        """Raises UNAVAILABLE if the pooler does not answer, and once if the connection to its previous pod is kept."""
        pooler = None if view is None else view.poolers.get(server)
        is_running = pooler is not None and pooler.state is PoolerState.RUNNING
        before = self._dialed.get(server)
        if pooler is not None and is_running:
            self._dialed[server] = pooler.uid
        if pooler is None or not is_running or before not in (None, pooler.uid):
            message = (
                "failed to get status from pooler: rpc error: code = Unavailable desc = no route to host"
            )
            raise MultiadminError(answers.UNAVAILABLE, message)

    async def _switch_primary(self, call: Call) -> Json:
        shard = call.shard
        leader = await self._leader(shard)
        view = self._cluster.view(shard)
        if view is None or view.primary != leader or DataPlaneFault.SWITCH_REFUSED in view.faults:
            raise MultiadminError(answers.INTERNAL, "ResignLeadership failed: the pooler does not lead")
        self._cluster.replace_state(shard, resign(view))
        await self._clock.sleep(view.timing.switch)
        return {"oldLeaderId": answers.id_json(leader)}

    async def _leader(self, shard: ShardKey) -> ServerId:
        """The primary by its record, as the real multiadmin finds it: any other record counts as a standby."""
        name = "/".join(shard)
        topology = await self._cluster.read_topology()
        found = [
            (decode_pooler(value), DecodedMessage.decode(value).message(13).number(1))
            for value in topology.pooler_values()
        ]
        roles = {
            ServerId(record.cell, record.name): role
            for record, role in found
            if (record.database, record.table_group, record.shard) == shard
        }
        leaders = [server for server, role in roles.items() if role == Role.PRIMARY]
        if not roles:
            raise MultiadminError(answers.NOT_FOUND, f"no poolers found for shard {name}")
        if not leaders:
            raise MultiadminError(answers.NOT_FOUND, f"no PRIMARY pooler found for shard {name}")
        if len(leaders) == len(roles):
            raise MultiadminError(answers.FAILED_PRECONDITION, "no standby poolers available for promotion")
        return leaders[-1]

    async def _change_rule(self, call: Call) -> Json:
        view = self._cluster.view(call.shard)
        topology = await self._cluster.read_topology()
        recorded = {ServerId(record.cell, record.name) for record in topology.poolers()}
        rule = proposed_rule(call.body, view, recorded)
        assert view is not None
        self._cluster.replace_state(call.shard, install_rule(view, rule))
        return {"installedRule": answers.rule_json(rule), "certUsed": {"frozenLsn": "0/3000000"}}

    def _backups(self, answer: Callable[[BackupCall], Json]) -> Route:
        async def route(call: Call) -> Json:
            return answer(await self._backup_call(call))

        return route

    async def _job(self, call: Call) -> Json:
        return self.backups.job(call.parts[0], await self._backup_call(call))

    async def _backup_call(self, call: Call) -> BackupCall:
        fields = {**call.query, **call.body}
        shard = ShardKey(*(str(fields.get(name, "")) for name in ("database", "table_group", "shard")))
        return BackupCall(shard, fields, await self._cluster.read_topology())


def _decode(body: bytes) -> Json:
    try:
        return msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        raise MultiadminError(answers.INVALID_ARGUMENT, "the body is not a JSON object") from None
