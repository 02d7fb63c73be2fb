"""Which password is published, by what Postgres accepts."""

import json
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.kube.cache.store import Store
from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import Metadata
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.cache_rules import SHARD, MultigresCacheRules
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.controllers.cluster.password_rotation import PasswordRotation, cluster_of_password
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.views import ClusterView
from steward.postgres import role_password
from steward.postgres.address import PostgresAddress
from steward.postgres.role_password import PasswordNotSet
from steward.postgres.sessions import ServerUnreachable

SPEC = MultigresClusterSpec()


class FakePostgres:
    """Accepts one password; refuses to change it if there is an error."""

    def __init__(self, valid: str, error: Exception | None = None) -> None:
        self.valid = valid
        self.error = error

    async def accepts_password(self, server: PostgresAddress, password: str) -> bool:
        if self.error is not None:
            raise self.error
        return password == self.valid

    async def set_password(self, server: PostgresAddress, old: str, new: str) -> None:
        if self.error is not None:
            raise self.error
        assert self.valid in (old, new)
        self.valid = new


def rotation(
    desired: str | None, published: str | None, primary: str = "pod-0", of_shard: str | None = None
) -> PasswordRotation:
    async def desired_password(*_: object) -> str | None:
        return desired

    async def published_password(*_: object) -> str | None:
        return published

    async def shard_password(namespace: str, shard: str) -> str | None:
        return of_shard if (namespace, shard) == ("ns", "s") else None

    rules = MultigresCacheRules("")
    stores: dict[Kind, Store[Any]] = {rule.kind: Store(rule) for rule in (rules.shard, rules.pod)}
    metadata = {
        "name": "s",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "1",
        "labels": {"multigres.com/cluster": "c"},
    }
    shard = {
        "apiVersion": SHARD.api_version,
        "kind": "Shard",
        "metadata": metadata,
        "spec": {"shardName": "0-inf"},
    }
    status = {"status": {"primary": primary}} if primary else {}
    stores[SHARD].observe_write(json.dumps({**shard, **status}).encode())
    references = SimpleNamespace(
        password=desired_password, published_password=published_password, shard_password=shard_password
    )
    context = SimpleNamespace(
        rules=rules, store=lambda rule: stores[rule.kind], settings=SimpleNamespace(connect_to=())
    )
    return PasswordRotation(cast(MultigresContext, context), cast(ExternalReferences, references))


def cluster(**spec: Any) -> ClusterView:
    return msgspec.convert(
        {"metadata": {"name": "c", "namespace": "ns", "uid": "u"}, "spec": spec}, ClusterView
    )


@pytest.mark.parametrize(
    ("passwords", "state", "expected"),
    [
        (("old", "old"), ("pod-0", "old"), "old"),
        (("new", "old"), ("pod-0", "old"), "new"),
        (("new", "old"), ("pod-0", "new"), "new"),
        (("new", "old"), ("", "old"), "old"),
        ((None, "old"), ("pod-0", "old"), "old"),
        (("new", None), ("", "new"), "new"),
        (("new", None), ("pod-0", "new"), "new"),
        (("new", None), ("pod-0", "old"), None),
        ((None, None), ("", ""), None),
    ],
    ids=[
        "unchanged",
        "changed",
        "changed-before-a-crash",
        "no-primary",
        "secret-deleted",
        "new-cluster",
        "published-secret-deleted",
        "both-lost",
        "no-password-yet",
    ],
)
async def test_a_password_is_published_when_postgres_accepts_it(
    monkeypatch: pytest.MonkeyPatch,
    passwords: tuple[str | None, str | None],
    state: tuple[str, str],
    expected: Any,
) -> None:
    (desired, published), (primary, valid) = passwords, state
    postgres = FakePostgres(valid)
    monkeypatch.setattr(role_password, "accepts_password", postgres.accepts_password)
    monkeypatch.setattr(role_password, "set_password", postgres.set_password)
    found = await rotation(desired, published, primary).decide(cluster(), SPEC)
    assert found.value == expected


@pytest.mark.parametrize("error", [PasswordNotSet("read-only"), ServerUnreachable("no route")], ids=str)
async def test_a_refused_change_keeps_the_published_password_and_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(role_password, "set_password", FakePostgres("old", error).set_password)
    found = await rotation("new", "old").decide(cluster(), SPEC)
    assert found.value == "old"
    [condition] = found.conditions(1)
    assert (condition.type, condition.reason) == ("PasswordChangePending", "PasswordRefused")
    assert str(error) in condition.message
    assert found.components()[0].problem
    assert found.requeue_steps()


async def test_nothing_is_changed_in_postgres_while_the_cluster_is_paused() -> None:
    found = await rotation("new", "old").decide(cluster(paused=True), SPEC)
    assert (found.value, found.conditions(1)) == ("old", ())


async def test_a_change_that_waits_for_a_primary_is_no_problem() -> None:
    found = await rotation("new", "old", primary="").decide(cluster(), SPEC)
    assert [each.reason for each in found.conditions(1)] == ["PasswordWaiting"]
    assert found.components() == []


@pytest.mark.parametrize(("name", "count"), [("c-postgres-password", 1), ("c-app", 0)])
def test_only_the_password_secret_triggers_its_cluster(name: str, count: int) -> None:
    labels = {"multigres.com/cluster": "c"}
    secret = msgspec.convert(
        {"metadata": {"name": name, "namespace": "ns", "uid": "u", "labels": labels}}, Metadata
    )
    assert len(cluster_of_password(secret)) == count


async def test_a_cluster_of_the_go_operator_keeps_the_password_of_its_servers() -> None:
    assert await rotation(None, None, of_shard="postgres").initial_password(cluster()) == "postgres"


async def test_any_other_cluster_gets_a_random_password() -> None:
    found = {await rotation(None, None).initial_password(cluster()) for _ in range(2)}
    assert {len(password) for password in found} == {32}
    assert len(found) == 2
