"""Whether a node stands where a cell is meant to be: asked seldom, and never a reason to fail."""

from typing import cast

from steward.kube.client.client import Client, ListQuery
from steward.kube.errors import Forbidden, KubeError
from steward.kube.objects.kinds import Kind
from steward.multigres.api.compute import Stateless
from steward.multigres.controllers.common.nodes import REMEMBER_SECONDS, Nodes
from steward.multigres.resolution.resolved import ResolvedCell
from steward.testkit import FakeClock

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"


class Server:
    """Answers whether nodes carry a label, and counts how often it was asked."""

    def __init__(self, *labels: str, error: KubeError | None = None) -> None:
        self.labels = set(labels)
        self.error = error
        self.asked = 0

    def within(self, seconds: float) -> "Server":
        return self

    async def has_any(self, kind: Kind, query: ListQuery) -> bool:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return query.label_selector in self.labels


def nodes(server: Server, clock: FakeClock | None = None) -> Nodes:
    return Nodes(cast(Client, server), clock or FakeClock())


async def test_the_label_that_no_node_carries_is_named() -> None:
    found = nodes(Server(f"{ZONE}=z1"))
    assert await found.lacking("z1", "") == ""
    assert await found.lacking("z9", "") == f"{ZONE}=z9"
    assert await found.lacking("", "r9") == f"{REGION}=r9"
    assert await found.lacking("", "") == ""


async def test_an_answer_is_remembered_for_a_while_and_no_longer() -> None:
    server, clock = Server(), FakeClock()
    found = nodes(server, clock)
    assert [await found.lacking("z1", "") for _ in range(3)] == [f"{ZONE}=z1"] * 3
    assert server.asked == 1
    server.labels = {f"{ZONE}=z1"}
    clock.advance(REMEMBER_SECONDS)
    assert await found.lacking("z1", "") == ""


async def test_who_cannot_find_out_says_nothing_and_asks_again() -> None:
    server = Server(error=Forbidden(403, "Forbidden", "no"))
    found = nodes(server)
    assert [await found.lacking("z1", "") for _ in range(2)] == ["", ""]
    assert server.asked == 2


async def test_a_warning_names_the_cell_as_users_wrote_it() -> None:
    cells = [ResolvedCell(name, name, "", Stateless(), None) for name in ("z1", "z9")]
    assert await nodes(Server(f"{ZONE}=z1")).warnings(cells) == [
        f"spec.cells[1]: no node carries {ZONE}=z9; pods of cell 'z9' wait until one does"
    ]
