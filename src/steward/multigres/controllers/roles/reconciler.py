"""Brings the roles in Postgres to what a cluster declares. It writes nothing to the API server.

Requests come from the cluster controller, which reports the outcomes recorded here. At rest the roles are compared at
intervals, so that what was changed by hand is put back. Standbys get the roles from their primary.
"""

from collections.abc import Iterator
from typing import NamedTuple

from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import HasMetadata
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.intervals import seconds_until_next
from steward.multigres.controllers.postgres_access.postgres_servers import PostgresServers
from steward.multigres.controllers.postgres_access.role_states import RoleRequest, RolesOutcome, RoleStates
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.objects.shard_inputs import shard_path
from steward.multigres.status.pause import is_paused
from steward.multigres.views import ShardView
from steward.postgres.roles import DeclaredRole, DeclaredRoles
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import selected_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.reconcile import DONE, RequeueAfter, Result

NAME = "roles"
REST_SECONDS = 300.0
RETRY_SECONDS = 5.0


class _ShardOutcome(NamedTuple):
    problems: tuple[str, ...] = ()
    failed: frozenset[str] = frozenset()
    waiting: str = ""


class RolesReconciler:
    def __init__(self, context: MultigresContext, states: RoleStates) -> None:
        self.context = context
        self.states = states
        self.clusters = context.store(context.rules.cluster)
        self.servers = PostgresServers(context)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            NAME,
            self,
            (
                # Requests trigger it: a change of a cluster is none before its controller has read it.
                For(rules.cluster, when=lambda change: change.new is None),
                Watches(rules.shard, to=_cluster_of, when=selected_fields(_primary)),
            ),
            channel=self.states.requests,
        )

    async def reconcile(self, key: Key) -> Result:
        cluster, request = self.clusters.get(key), self.states.request(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            self.states.forget(key)
            return DONE
        if request is None or is_paused(cluster):
            return DONE
        outcome = await self._set_roles(key, request)
        # A newer request has been queued meanwhile: its outcome is the one to report.
        if self.states.request(key) != request:
            return DONE
        self.states.record(key, outcome)
        if outcome.waiting:
            return DONE
        now = self.context.clock.monotonic()
        return RequeueAfter(RETRY_SECONDS if outcome.problems else seconds_until_next(now, REST_SECONDS))

    async def _set_roles(self, key: Key, request: RoleRequest) -> RolesOutcome:
        shards = list(self.servers.shards(key))
        accepted: set[tuple[str, DeclaredRole]] = set()
        problems: list[str] = []
        for declared in request.databases:
            of_database = [shard for shard in shards if shard_path(shard).database == declared.database]
            outcomes = [await self._set_on(shard, request, declared) for shard in of_database]
            waiting = next((each.waiting for each in outcomes if each.waiting), "")
            if waiting or not outcomes:
                return RolesOutcome(waiting=waiting or f"database {declared.database} has no shards yet")
            problems += (problem for each in outcomes for problem in each.problems)
            failed = {role for each in outcomes for role in each.failed}
            accepted |= {(declared.database, role) for role in declared.roles if role.name not in failed}
        return RolesOutcome(frozenset(accepted), tuple(dict.fromkeys(problems)))

    async def _set_on(self, shard: ShardView, request: RoleRequest, declared: DeclaredRoles) -> _ShardOutcome:
        if not or_default(shard.status.primary, ""):
            return _ShardOutcome(waiting=f"{shard.metadata.name} has no primary")
        # Imported on first use: the driver costs memory, and most clusters declare no roles.
        from steward.postgres.role_management import manage_roles
        from steward.postgres.sessions import PostgresFailure

        try:
            found = await manage_roles(self.servers.primary(shard), request.superuser_password, declared)
        except PostgresFailure as error:
            everyone = frozenset(role.name for role in declared.roles)
            return _ShardOutcome((f"database {declared.database}: {error}",), everyone)
        texts = tuple(_text(declared.database, problem.role, problem.message) for problem in found)
        return _ShardOutcome(texts, frozenset(problem.role for problem in found))


def _text(database: str, role: str, message: str) -> str:
    return f"database {database}: role {role}: {message}" if role else f"database {database}: {message}"


def _primary(shard: ShardView) -> str:
    return or_default(shard.status.primary, "")


def _cluster_of(shard: HasMetadata) -> Iterator[Key]:
    cluster = shard.metadata.labels.get(CLUSTER_LABEL)
    if cluster:
        yield Key(shard.metadata.namespace, cluster)
