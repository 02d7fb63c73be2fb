"""When roles are set in Postgres, and what is recorded about it."""

import itertools
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.cache_rules import CLUSTER, SHARD, MultigresCacheRules
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.postgres_access.role_states import RoleRequest, RolesOutcome, RoleStates
from steward.multigres.controllers.roles.reconciler import RETRY_SECONDS, RolesReconciler
from steward.postgres import role_management
from steward.postgres.address import PostgresAddress
from steward.postgres.role_management import RoleProblem
from steward.postgres.roles import DeclaredRole, DeclaredRoles
from steward.postgres.sessions import ServerUnreachable
from steward.runtime.controller.triggers import Channel
from steward.runtime.reconcile import DONE, RequeueAfter

KEY = Key("ns", "c")
ROLE = DeclaredRole("shop", True, "secret")
REQUEST = RoleRequest("super", (DeclaredRoles("shop", (ROLE,), "shop"),))


class FakePostgres:
    def __init__(self, *problems: RoleProblem, error: Exception | None = None) -> None:
        self.problems = problems
        self.error = error
        self.calls: list[tuple[str, str]] = []

    async def manage_roles(
        self, server: PostgresAddress, password: str, declared: DeclaredRoles
    ) -> list[RoleProblem]:
        self.calls.append((server.user, password))
        if self.error is not None:
            raise self.error
        return list(self.problems)


class Cluster:
    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, postgres: FakePostgres, primary: str = "pod-0"
    ) -> None:
        rules = MultigresCacheRules("")
        self._stores: dict[Kind, Store[Any]] = {
            rule.kind: Store(rule) for rule in (rules.cluster, rules.shard, rules.pod)
        }
        self._versions = itertools.count(1)
        self.states = RoleStates(Channel())
        self.write(CLUSTER, "c", {"spec": {}})
        labels = {"multigres.com/cluster": "c"}
        status = {"status": {"primary": primary}} if primary else {}
        self.write(SHARD, "s", {"spec": {"shardName": "0-inf", "databaseName": "shop"}, **status}, labels)
        context = SimpleNamespace(
            rules=rules,
            store=lambda rule: self._stores[rule.kind],
            settings=SimpleNamespace(connect_to=()),
            clock=SimpleNamespace(monotonic=lambda: 0.0),
        )
        self.reconciler = RolesReconciler(cast(MultigresContext, context), self.states)
        monkeypatch.setattr(role_management, "manage_roles", postgres.manage_roles)

    def write(
        self, kind: Kind, name: str, fields: dict[str, Any], labels: dict[str, str] | None = None
    ) -> None:
        metadata = {
            "name": name,
            "namespace": "ns",
            "uid": name,
            "resourceVersion": str(next(self._versions)),
            "labels": labels or {},
        }
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}
        self._stores[kind].observe_write(json.dumps(manifest).encode())


async def test_roles_that_postgres_has_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    postgres = FakePostgres()
    cluster = Cluster(monkeypatch, postgres)
    cluster.states.expect(KEY, REQUEST)
    assert isinstance(await cluster.reconciler.reconcile(KEY), RequeueAfter)
    assert cluster.states.outcome(KEY) == RolesOutcome(frozenset({("shop", ROLE)}))
    assert postgres.calls == [("postgres", "super")]


async def test_a_refused_role_is_reported_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, FakePostgres(RoleProblem("shop", "no")))
    cluster.states.expect(KEY, REQUEST)
    assert await cluster.reconciler.reconcile(KEY) == RequeueAfter(RETRY_SECONDS)
    assert cluster.states.outcome(KEY) == RolesOutcome(problems=("database shop: role shop: no",))


async def test_a_server_that_does_not_answer_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, FakePostgres(error=ServerUnreachable("no route")))
    cluster.states.expect(KEY, REQUEST)
    await cluster.reconciler.reconcile(KEY)
    assert cluster.states.outcome(KEY) == RolesOutcome(problems=("database shop: no route",))


async def test_without_a_primary_it_waits_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, FakePostgres(), primary="")
    cluster.states.expect(KEY, REQUEST)
    assert await cluster.reconciler.reconcile(KEY) == DONE
    assert cluster.states.outcome(KEY) == RolesOutcome(waiting="s has no primary")


async def test_nothing_is_set_while_the_cluster_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    postgres = FakePostgres()
    cluster = Cluster(monkeypatch, postgres)
    cluster.write(CLUSTER, "c", {"spec": {"paused": True}})
    cluster.states.expect(KEY, REQUEST)
    await cluster.reconciler.reconcile(KEY)
    assert postgres.calls == []


async def test_a_cluster_that_is_gone_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, FakePostgres())
    other = Key("ns", "gone")
    cluster.states.expect(other, REQUEST)
    await cluster.reconciler.reconcile(other)
    assert cluster.states.request(other) is None
