from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from steward.kube.errors import LeaseLost, Unreachable
from steward.kube.objects.meta import ObjectMeta
from steward.kube.transport.request import Effect, Request
from steward.runtime.manager import election
from steward.runtime.manager.election import lease_name, own_deployment
from steward.runtime.manager.identity import Identity
from steward.runtime.manager.settings import Settings, Shard
from steward.runtime.manager.write_fence import WriteGuard

WRITE = Request(method="PATCH", path="/api/v1/x", effect=Effect.WRITE)


def test_the_guard_is_shut_until_it_knows_whom_to_ask() -> None:
    with pytest.raises(LeaseLost, match="PATCH /api/v1/x was stopped"):
        WriteGuard().check(WRITE)


def test_the_guard_asks_anew_for_every_write() -> None:
    guard = WriteGuard()
    answers = [True, False]
    guard.ask(lambda: answers.pop(0))
    guard.check(WRITE)
    with pytest.raises(LeaseLost):
        guard.check(WRITE)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (Settings(), "tenant-operator"),
        (Settings(lease_name="mine"), "mine"),
        (replace(Settings(), shard=Shard(1, 4)), "tenant-operator-1-of-4"),
        (replace(Settings(lease_name="mine"), shard=Shard(0, 2)), "mine-0-of-2"),
    ],
)
def test_each_shard_has_a_lease_of_its_own(settings: Settings, name: str) -> None:
    assert lease_name("tenant-operator", settings) == name


OURS = ObjectMeta(name="tenant-operator", uid="uid-1")
CONNECTION: Any = SimpleNamespace(
    client=None, namespace="steward-system", identity=Identity("tenant-operator", "1", "pod_1")
)


@pytest.mark.parametrize(
    ("found", "owner"),
    [([], None), ([OURS], "uid-1"), ([OURS, ObjectMeta(name="another", uid="uid-2")], None)],
    ids=["outside a cluster", "installed", "nobody knows which"],
)
async def test_a_lease_belongs_to_the_one_deployment_of_its_operator(
    found: list[ObjectMeta], owner: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deployments_with(client: object, namespace: str, labels: dict[str, str]) -> list[ObjectMeta]:
        assert (namespace, labels) == ("steward-system", {"app.kubernetes.io/name": "tenant-operator"})
        return found

    monkeypatch.setattr(election, "deployments_with", deployments_with)
    reference = await own_deployment(CONNECTION)
    assert (reference.uid if reference else None) == owner


async def test_a_lease_without_an_owner_is_better_than_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deployments_with(*_: object) -> list[ObjectMeta]:
        raise Unreachable("cannot reach it")

    monkeypatch.setattr(election, "deployments_with", deployments_with)
    assert await own_deployment(CONNECTION) is None
