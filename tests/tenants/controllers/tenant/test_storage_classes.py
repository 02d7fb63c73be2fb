"""An unbound claim asks once a minute how its StorageClass binds volumes."""

from typing import Any

import msgspec
import pytest

from steward.kube.errors import Forbidden, KubeError, NotFound
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key, Kind, Ref
from steward.kube.objects.readiness import NotReady, Readiness, Ready
from steward.kube.objects.readiness_views import ReadinessView
from steward.tenants.api.resource import TResource
from steward.tenants.controllers.tenant.observe import ObjectReader
from steward.tenants.controllers.tenant.storage_classes import CACHED_SECONDS, StorageClasses

REF = Ref(PERSISTENT_VOLUME_CLAIM, Key("shop", "data"))
UNBOUND = {"spec": {"storageClassName": "local"}, "status": {"phase": "Pending"}}


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


class Server:
    """An API server with one StorageClass, or with an error for it, and one claim."""

    def __init__(self, answer: str | KubeError, claim: dict[str, Any] = UNBOUND) -> None:
        self.answer = answer
        self.claim = msgspec.convert(claim, ReadinessView)
        self.reads = 0
        self.clock = Clock()
        self.classes = StorageClasses(self, self.clock)  # type: ignore[arg-type]

    async def get(self, *wanted: Any) -> Any:
        if isinstance(wanted[0], Kind) and wanted[0].kind != "StorageClass":
            return self.claim
        self.reads += 1
        if isinstance(self.answer, KubeError):
            raise self.answer
        return msgspec.convert({"volumeBindingMode": self.answer}, wanted[-1])

    async def readiness(self, **fields: Any) -> Readiness:
        watches: Any = type("NoWatches", (), {"get": lambda *_: None})()
        reader = ObjectReader(self, watches, self.classes)  # type: ignore[arg-type]
        live = await reader.read(REF)
        assert live is not None
        return await reader.resource_readiness(TResource(id="data", spec={}, **fields), REF, live)


async def test_a_claim_that_its_first_pod_binds_is_ready_before() -> None:
    assert await Server("WaitForFirstConsumer").readiness() == Ready()


@pytest.mark.parametrize("answer", ["Immediate", "", NotFound(404, "NotFound", "no such class", {})])
async def test_any_other_claim_waits_until_it_is_bound(answer: str | KubeError) -> None:
    assert await Server(answer).readiness() == NotReady("is not bound to a volume")


async def test_a_class_that_may_not_be_read_leaves_the_claim_waiting_with_the_cure() -> None:
    readiness = await Server(Forbidden(403, "Forbidden", "no", {})).readiness()

    assert isinstance(readiness, NotReady)
    assert "set waitForReady: false" in readiness.message


@pytest.mark.parametrize(
    ("claim", "fields"),
    [
        ({**UNBOUND, "status": {"phase": "Bound"}}, {}),
        ({**UNBOUND, "status": {"phase": "Lost"}}, {}),
        ({"status": {"phase": "Pending"}}, {}),
        ({**UNBOUND, "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, {}),
        (UNBOUND, {"wait_for_ready": False}),
    ],
)
async def test_no_class_is_read_where_it_decides_nothing(
    claim: dict[str, Any], fields: dict[str, Any]
) -> None:
    server = Server("WaitForFirstConsumer", claim)
    await server.readiness(**fields)
    assert server.reads == 0


async def test_a_class_is_read_once_a_minute() -> None:
    server = Server("WaitForFirstConsumer")
    for _ in range(3):
        await server.classes.binds_on_first_use("local")
    assert server.reads == 1

    server.clock.seconds += CACHED_SECONDS
    server.answer = "Immediate"
    assert await server.classes.binds_on_first_use("local") is False
