"""An installation waits for discovery, which may list a kind only some time after its CRD is Established."""

from typing import Any

from steward.kube.errors import NoSuchKind
from steward.kube.objects.kinds import Kind
from steward.local import installation


class LateServer:
    """Accepts every apply, reports every CRD as Established, and discovers each kind at the second request."""

    def __init__(self) -> None:
        self.discovery = self
        self.requested: list[Kind] = []

    async def apply(self, *_: Any) -> bytes:
        return b"{}"

    async def get(self, *_: Any) -> dict[str, Any]:
        return {"status": {"conditions": [{"type": "Established", "status": "True"}]}}

    async def resource(self, kind: Kind) -> None:
        self.requested.append(kind)
        if self.requested.count(kind) < 2:
            raise NoSuchKind(f"the server does not serve {kind}")


async def test_an_installation_waits_until_discovery_lists_every_kind() -> None:
    server = LateServer()
    await installation.install(server)  # type: ignore[arg-type]
    assert {kind.kind for kind in server.requested} >= {"MultigresCluster", "ShardTemplate", "Tenant"}
    assert all(server.requested.count(kind) == 2 for kind in server.requested)
