"""Warnings about cells without a node: cached, and never an error."""

from typing import cast

from steward.kube.client.client import Client, ListQuery
from steward.kube.errors import Forbidden, KubeError
from steward.kube.objects.kinds import Kind
from steward.multigres.api.compute import Stateless
from steward.multigres.controllers.common.nodes import CACHED_SECONDS, Nodes
from steward.multigres.resolution.resolved import ResolvedCell
from steward.testkit import FakeClock

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


class FakeClient:
    """Answers whether nodes have a label, and counts the requests."""

    def __init__(self, *labels: str, error: KubeError | None = None) -> None:
        self.labels = set(labels)
        self.error = error
        self.asked = 0

    def with_timeout(self, seconds: float) -> "FakeClient":
        return self

    async def has_any(self, kind: Kind, query: ListQuery) -> bool:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return query.label_selector in self.labels


def nodes(server: FakeClient, clock: FakeClock | None = None) -> Nodes:
    return Nodes(cast(Client, server), clock or FakeClock())


async def test_a_label_that_no_node_has_is_named() -> None:
    found = nodes(FakeClient(f"{ZONE}=z1"))
    assert await found.missing_label("z1", "") == ""
    assert await found.missing_label("z9", "") == f"{ZONE}=z9"
    assert await found.missing_label("", "r9") == f"{REGION}=r9"
    assert await found.missing_label("", "") == ""


async def test_an_answer_is_cached_for_a_limited_time() -> None:
    server, clock = FakeClient(), FakeClock()
    found = nodes(server, clock)
    assert [await found.missing_label("z1", "") for _ in range(3)] == [f"{ZONE}=z1"] * 3
    assert server.asked == 1
    server.labels = {f"{ZONE}=z1"}
    clock.advance(CACHED_SECONDS)
    assert await found.missing_label("z1", "") == ""


async def test_a_failed_check_gives_no_warning_and_is_not_cached() -> None:
    server = FakeClient(error=Forbidden(403, "Forbidden", "no"))
    found = nodes(server)
    assert [await found.missing_label("z1", "") for _ in range(2)] == ["", ""]
    assert server.asked == 2


async def test_a_warning_names_the_field_of_the_cell() -> None:
    cells = [ResolvedCell(name, name, "", Stateless(), None) for name in ("z1", "z9")]
    assert await nodes(FakeClient(f"{ZONE}=z1")).warnings(cells) == [
        f"spec.cells[1]: no node carries {ZONE}=z9; pods of cell 'z9' wait until one does"
    ]
