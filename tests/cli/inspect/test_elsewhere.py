"""What is said when the selected namespace has nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

import pytest

from steward.cli.inspect.elsewhere import NotInstalled, describe_elsewhere, read_elsewhere, require_installed
from steward.kube.client.client import Client
from steward.kube.client.decode import Listing
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Kind, Manifest

CLUSTER = Kind("multigres.com/v1alpha1", "MultigresCluster")
REGISTRY = Kind("operator.kubernetes-tenants.org/v1", "TenantRegistry")
MANY = {f"n{index}": Counter(MultigresCluster=1) for index in range(7)}
CASES = [
    pytest.param({}, "", id="nothing anywhere"),
    pytest.param(
        {"shop": Counter(TenantRegistry=2), "demo": Counter(MultigresCluster=1, TenantRegistry=1)},
        "Other namespaces have some: demo (1 MultigresCluster, 1 TenantRegistry), shop (2 TenantRegistries). "
        "Add -n demo, or -A for all.",
        id="two namespaces",
    ),
    pytest.param(
        MANY,
        "Other namespaces have some: "
        + ", ".join(f"n{index} (1 MultigresCluster)" for index in range(5))
        + " and 2 more. Add -n n0, or -A for all.",
        id="many namespaces",
    ),
]


@pytest.mark.parametrize(("counts", "sentence"), CASES)
def test_other_namespaces_are_named_with_what_they_have(
    counts: dict[str, Counter[str]], sentence: str
) -> None:
    assert describe_elsewhere(counts) == sentence


class FakeServer:
    """Serves these kinds, with the namespaces of their objects."""

    def __init__(self, **namespaces: Sequence[str]) -> None:
        self.namespaces = namespaces
        self.discovery = self

    async def resource(self, kind: Kind) -> None:
        if kind.kind not in self.namespaces:
            raise NoSuchKind(str(kind))

    async def list(self, kind: Kind, _query: object) -> Listing[Manifest]:
        if kind.kind not in self.namespaces:
            raise NotFound(404, "NotFound", "")
        found = self.namespaces[kind.kind]
        return Listing([{"metadata": {"namespace": name}} for name in found], "1")


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        (FakeServer(MultigresCluster=[]), ""),
        (
            FakeServer(MultigresCluster=["demo"], TenantRegistry=["demo"]),
            "Other namespaces have some: demo (1 MultigresCluster, 1 TenantRegistry). Add -n demo, or -A for all.",
        ),
    ],
)
async def test_other_namespaces_are_read(server: FakeServer, sentence: str) -> None:
    assert await read_elsewhere(cast(Client, server)) == sentence


async def test_a_cluster_without_the_kinds_has_no_steward() -> None:
    client = cast(Client, FakeServer())
    message = "Steward is not installed in this cluster: `steward install --apply` installs it"
    with pytest.raises(NotInstalled, match=message):
        await read_elsewhere(client)
    with pytest.raises(NotInstalled):
        await require_installed(client, REGISTRY)
    await require_installed(cast(Client, FakeServer(TenantRegistry=[])), CLUSTER, REGISTRY)
