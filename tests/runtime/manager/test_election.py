from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from steward.kube.errors import DeploymentNotFound, KubeError, Unreachable
from steward.kube.objects.meta import OwnerReference
from steward.runtime.manager import election
from steward.runtime.manager.election import lease_name, own_deployment
from steward.runtime.manager.identity import Identity
from steward.runtime.manager.settings import Settings
from steward.runtime.partition import Partition


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (Settings(), "tenant-operator"),
        (Settings(lease_name="mine"), "mine"),
        (replace(Settings(), partition=Partition(1, 4)), "tenant-operator-1-of-4"),
        (replace(Settings(lease_name="mine"), partition=Partition(0, 2)), "mine-0-of-2"),
    ],
)
def test_each_partition_has_its_own_lease(settings: Settings, name: str) -> None:
    assert lease_name("tenant-operator", settings) == name


OURS = OwnerReference(name="tenant-operator", uid="uid-1")
CONNECTION: Any = SimpleNamespace(
    client=None, namespace="steward-system", identity=Identity("tenant-operator", "1", "pod_1")
)


async def test_a_lease_is_owned_by_the_deployment_of_its_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    async def find_deployment(client: object, namespace: str, labels: dict[str, str]) -> OwnerReference:
        assert (namespace, labels) == ("steward-system", {"app.kubernetes.io/name": "tenant-operator"})
        return OURS

    monkeypatch.setattr(election, "find_deployment", find_deployment)
    assert await own_deployment(CONNECTION) == OURS


@pytest.mark.parametrize("error", [DeploymentNotFound("none"), Unreachable("cannot reach it")])
async def test_without_a_deployment_the_lease_has_no_owner(
    error: KubeError, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find_deployment(*_: object) -> OwnerReference:
        raise error

    monkeypatch.setattr(election, "find_deployment", find_deployment)
    assert await own_deployment(CONNECTION) is None
