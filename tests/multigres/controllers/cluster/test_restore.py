"""When a cluster with `restore` is created, and what its condition says."""

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.api.status import Condition
from steward.multigres.controllers.cluster import restore
from steward.multigres.controllers.cluster.restore import RestoreGuard, restore_conditions, restore_requeue
from steward.multigres.names import ShardPath
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.multigres.status.conditions import Stall
from steward.multigres.views import ClusterView
from steward.runtime.plan.steps import Requeue

S3 = {"bucket": "b", "region": "r"}
SPEC = {"cells": [{"zone": "z1"}], "restore": {"from": {"s3": S3}}}
LABELS = {"multigres.com/cluster": "shop"}
CLAIM = f"pgdata-{names.pool(ShardPath('shop', 'postgres', 'default', '0-inf'), 'default', 'z1')}-0"
BLOCKED = Stall(reasons.RESTORE_BLOCKED, "m")


def cluster(reason: str = "", namespace: str = "ns", spec: dict[str, Any] = SPEC) -> ClusterView:
    written = Condition(
        type="Restored",
        status="False",
        reason=reason,
        message="m",
        last_transition_time="2026-08-21T12:00:00Z",
    )
    status = MultigresClusterStatus(conditions=[written] if reason else [])
    return ClusterView(ObjectMeta(name="shop", namespace=namespace), spec, status)


def named(name: str) -> Any:
    return SimpleNamespace(metadata=ObjectMeta(name=name, namespace="ns", labels=LABELS))


class Objects:
    """The caches of the operator, by kind."""

    def __init__(self, **stores: list[Any]) -> None:
        self.rules = SimpleNamespace(**{each: each for each in ("cluster", "table_group", "claim", "backup")})
        self._stores = stores

    def store(self, rule: str) -> Any:
        return SimpleNamespace(list=lambda namespace=None: self._stores.get(rule, []))


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Secrets that exist."""
    existing = [names.password_secret("shop")]

    class Secrets:
        def __init__(self, context: Any) -> None:
            pass

        async def exists(self, key: Any) -> bool:
            return key.name in existing

    monkeypatch.setattr(restore, "UserSecrets", Secrets)
    return existing


async def stall(live: ClusterView, **stores: list[Any]) -> Stall | None:
    spec = msgspec.convert(live.spec, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity("ns", "shop"), spec, Templates({}, {}, {}))
    guard = RestoreGuard(Objects(**{"cluster": [live], **stores}))  # type: ignore[arg-type]
    return await guard.stall(live, spec, resolved)


async def test_cluster_is_created_when_nothing_is_in_the_way() -> None:
    assert await stall(cluster()) is None


async def test_cluster_without_restore_is_not_examined(secrets: list[str]) -> None:
    secrets.clear()
    assert await stall(cluster(spec={"cells": [{"zone": "z1"}]}), claim=[named(CLAIM)]) is None


async def test_missing_password_blocks_it(secrets: list[str]) -> None:
    secrets.clear()
    found = await stall(cluster())
    assert found is not None
    assert found.reason == reasons.RESTORE_BLOCKED
    assert "Secret shop-postgres-password does not exist" in found.message


async def test_password_secret_of_the_spec_is_the_one_that_is_needed(secrets: list[str]) -> None:
    spec = {**SPEC, "postgresPasswordSecretRef": {"name": "mine"}}
    found = await stall(cluster(spec=spec))
    assert found is not None
    assert "Secret mine does not exist" in found.message


async def test_another_cluster_with_the_same_repository_blocks_it() -> None:
    other = cluster(namespace="old", spec={"cells": [{"zone": "z1"}], "backup": {"type": "s3", "s3": S3}})
    found = await stall(cluster(), cluster=[cluster(), other])
    assert found is not None
    assert "MultigresCluster old/shop uses the repository s3://b" in found.message


async def test_volumes_of_servers_block_it() -> None:
    found = await stall(cluster(), claim=[named(CLAIM)])
    assert found is not None
    assert CLAIM in found.message


@pytest.mark.parametrize("reason", [reasons.RESTORING, reasons.RESTORED, reasons.REPOSITORY_EMPTY])
async def test_restore_that_has_begun_is_not_blocked_by_its_own_volumes(reason: str) -> None:
    assert await stall(cluster(reason), claim=[named(CLAIM)]) is None


async def test_table_group_shows_that_the_restore_has_begun() -> None:
    live = cluster(reasons.RESTORE_BLOCKED)
    assert await stall(live, claim=[named(CLAIM)], table_group=[named("shop-postgres-default")]) is None


@pytest.mark.parametrize(
    ("written", "stalled", "expected"),
    [
        ("", BLOCKED, [reasons.RESTORE_BLOCKED]),
        ("", None, [reasons.RESTORING]),
        (reasons.RESTORE_BLOCKED, None, [reasons.RESTORING]),
        (reasons.RESTORED, None, []),
        (reasons.REPOSITORY_EMPTY, None, []),
        ("", Stall("Foreign", "m"), []),
    ],
)
def test_condition(written: str, stalled: Stall | None, expected: list[str]) -> None:
    spec = msgspec.convert(SPEC, MultigresClusterSpec)
    assert [each.reason for each in restore_conditions(cluster(written), spec, stalled)] == expected


def test_blocked_restore_is_looked_at_again() -> None:
    assert restore_requeue(BLOCKED) == (Requeue(restore.RETRY_SECONDS),)
    assert restore_requeue(None) == ()
