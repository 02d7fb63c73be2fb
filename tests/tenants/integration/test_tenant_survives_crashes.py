"""The operator is killed at every write for a Tenant, and the next process reaches the same result.

The scenario: objects are created here and in another namespace, the template changes, drops one and ignores a field of
another, the Tenant is deleted. The process that completes an interrupted scenario is the one that is killed in the
next: starting a process takes longer than a scenario.
"""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, NAMESPACE, Key, Manifest, Ref
from steward.kube.objects.options import ApplyOptions, DeleteOptions, ListQuery
from steward.local.control_plane import ControlPlane
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, TENANT, TENANT_NAMESPACE
from steward.testkit import CrashPoint, CrashTiming, FaultProxy, Match, kill_at_write
from steward.testkit.crash_process import kill, start_process
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import config_map, namespace_manifest, resource

TIMEOUT_SECONDS = 120.0
MAX_WRITES = 30
# Without events: a lost event is not repeated.
WRITES = Match(write=True, path=r"/(tenants|configmaps)/")


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await condition():
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"never came true: {what}") from None


class TenantScenario:
    """One Tenant from its creation to its deletion."""

    def __init__(self, target: "ScenarioTarget", name: str) -> None:
        self._client, self._namespace, self._other = target
        self._name = name
        self._step = 0

    async def run(self) -> None:
        """Continues after a kill with the step that was interrupted."""
        for number, step in enumerate((self._create, self._change, self._delete)):
            if number >= self._step:
                self._step = number
                await step()

    async def _create(self) -> None:
        kept, dropped = self._object("kept", v="1"), self._object("dropped")
        await self._write([kept, dropped, self._object("tuned", size="1"), self._dependent("there")])
        await self._until_objects({"kept": {"v": "1"}, "dropped": {}, "tuned": {"size": "1"}, "there": {}})

    async def _change(self) -> None:
        tuned = self._object("tuned", size="9") | {"ignoreFields": ["$.data.size"]}
        await self._write([self._object("kept", v="2"), tuned, self._dependent("there")])
        await self._until_objects({"kept": {"v": "2"}, "tuned": {"size": "1"}, "there": {}})

    async def _delete(self) -> None:
        with suppress(NotFound):
            await self._client.delete(self._ref, DeleteOptions())
        await eventually(self._is_deleted, f"{self._name} and its objects are deleted")

    @property
    def _ref(self) -> Ref:
        return Ref(TENANT_KIND, Key(self._namespace, self._name))

    def _object(self, id: str, **data: str) -> Manifest:
        return resource(id, config_map(f"{self._name}-{id}", **data))

    def _dependent(self, id: str) -> Manifest:
        """In the other namespace, and dependent on the one that is kept."""
        return resource(id, config_map(f"{self._name}-{id}", self._other), dependIds=["kept"])

    async def _write(self, config_maps: list[Manifest]) -> None:
        spec = {"uid": self._name, "templateRef": "t", "templateGeneration": 1, "configMaps": config_maps}
        metadata = {"name": self._name, "namespace": self._namespace}
        manifest = {
            "apiVersion": TENANT_KIND.api_version,
            "kind": "Tenant",
            "metadata": metadata,
            "spec": spec,
        }
        await self._client.apply(manifest, ApplyOptions(manager="registry"))

    async def _objects(self) -> dict[str, dict[str, str]]:
        selector = f"{TENANT}={self._name},{TENANT_NAMESPACE}={self._namespace}"
        found = await self._client.list(CONFIG_MAP, ListQuery(label_selector=selector))
        return {
            each["metadata"]["name"].removeprefix(f"{self._name}-"): each.get("data") or {}
            for each in found.items
        }

    async def _until_objects(self, expected: dict[str, dict[str, str]]) -> None:
        async def is_reached() -> bool:
            tenant = await self._client.get(*self._ref)
            status = tenant.get("status") or {}
            truth = {each["type"]: each["status"] for each in status.get("conditions") or ()}
            if status.get("observedGeneration") != tenant["metadata"]["generation"]:
                return False
            recorded = {each.partition("@")[2] for each in status["appliedResources"]}
            return (
                truth["Ready"] == "True" and recorded == set(expected) and await self._objects() == expected
            )

        await eventually(is_reached, f"{self._name} has {expected}")

    async def _is_deleted(self) -> bool:
        try:
            await self._client.get(*self._ref)
        except NotFound:
            return await self._objects() == {}
        return False


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
async def other(client: Client, namespace: str) -> AsyncIterator[str]:
    """A second namespace, open to templates of the first: owner references do not work across namespaces."""
    name = f"other-{secrets.token_hex(4)}"
    manifest = namespace_manifest(name)
    manifest["metadata"]["labels"] = {ALLOW_TEMPLATES_FROM: namespace}
    await client.create(manifest)
    yield name
    await client.delete(Ref(NAMESPACE, Key("", name)))


@asynccontextmanager
async def operator(proxy: FaultProxy, namespace: str) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {
        "STEWARD_NAMESPACES": namespace,
        "STEWARD_LEADER_ELECT": "false",
        "STEWARD_METRICS_BIND_ADDRESS": "0",
        "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0",
    }
    command = [str(Path(sys.executable).parent / "steward"), "run", "tenants"]
    process = await start_process(command, proxy, environment)
    try:
        yield process
    finally:
        await kill(process)


class ScenarioTarget(NamedTuple):
    client: Client
    namespace: str
    other: str


@pytest.fixture
def target(kubectl: Kubectl, client: Client, namespace: str, other: str) -> ScenarioTarget:
    return ScenarioTarget(client, namespace, other)


@pytest.mark.timeout(1200)
async def test_a_kill_at_any_write_leads_to_the_same_result(
    target: ScenarioTarget, control_plane: ControlPlane
) -> None:
    # Killed after the write is committed and before its answer: also the state before the next write is sent.
    timing = CrashTiming.AFTER
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        killed: TenantScenario | None = None
        for nth in range(1, MAX_WRITES):
            async with operator(proxy, target.namespace) as process:
                if killed is not None:
                    await killed.run()
                scenario = TenantScenario(target, f"crash-{nth}")
                run = asyncio.ensure_future(scenario.run())
                is_killed = await kill_at_write(process, proxy, CrashPoint(nth, timing, WRITES), until=run)
            await asyncio.gather(run, return_exceptions=True)
            if not is_killed:
                break
            killed = scenario
    # A finalizer, four objects, a change, an ignored field, four deletes and the statuses between them.
    assert 10 < nth < MAX_WRITES
