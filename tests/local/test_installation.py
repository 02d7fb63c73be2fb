"""The first `make up` of a fresh machine ended at its sample: a definition was Established, discovery came later."""

from typing import Any

from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import Kind
from steward.local import installation


class LateServer:
    """Takes everything, calls every definition Established, and tells of each kind at the second question only."""

    def __init__(self) -> None:
        self.discovery = self
        self.asked: list[Kind] = []

    async def apply(self, *_: Any) -> bytes:
        return b"{}"

    async def get(self, *_: Any) -> dict[str, Any]:
        return {"status": {"conditions": [{"type": "Established", "status": "True"}]}}

    async def resource(self, kind: Kind) -> None:
        self.asked.append(kind)
        if self.asked.count(kind) < 2:
            raise NoSuchKind(f"the server does not serve {kind}")


async def test_an_installation_is_there_when_discovery_tells_of_every_kind() -> None:
    server = LateServer()
    await installation.install(server)  # type: ignore[arg-type]
    assert {kind.kind for kind in server.asked} >= {"MultigresCluster", "ShardTemplate", "Tenant"}
    assert all(server.asked.count(kind) == 2 for kind in server.asked)
