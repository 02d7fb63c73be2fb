"""The operator crashes at every write for a Tenant, and the next process reaches the same result.

The scenario: objects are created here and in another namespace, the template changes, drops one and ignores a field of
another, the Tenant is deleted. The operator processes are simulated one after the other within the test, and the one
that completes an interrupted scenario is the one that crashes in the next. Real processes are killed at every write by
`tests/runtime/integration/test_sample_controller_crashes.py`.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple

import pytest

from steward.install.operators import TENANTS
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import CONFIG_MAP, NAMESPACE, Key, Manifest, Ref
from steward.kube.objects.options import ApplyOptions, DeleteOptions, ListQuery
from steward.local.control_plane import ControlPlane
from steward.runtime.manager.run import Operator
from steward.runtime.manager.settings import Settings, settings_from
from steward.tenants.cache_rules import TENANT_KIND
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, TENANT, TENANT_NAMESPACE
from steward.tenants.operator import NAME, set_up
from steward.testkit import CrashPoint, CrashTiming, Match
from steward.testkit.crash_in_process import run_until_crash
from tests.support.crashes import CRASH_MARKS, no_logged_errors
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import config_map, namespace_manifest, resource

TIMEOUT_SECONDS = 120.0
MAX_WRITES = 30
OPERATORS = (Operator(NAME, set_up),)

pytestmark = CRASH_MARKS


def writes_for(tenant: str) -> Match:
    """Without events: a lost event is not repeated."""
    return Match(write=True, path=rf"/(tenants|configmaps)/{tenant}(-|/|\?|$)")


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
        self._client, self.namespace, self._other = target
        self.name = name
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
        await eventually(self._is_deleted, f"{self.name} and its objects are deleted")

    @property
    def _ref(self) -> Ref:
        return Ref(TENANT_KIND, Key(self.namespace, self.name))

    def _object(self, id: str, **data: str) -> Manifest:
        return resource(id, config_map(f"{self.name}-{id}", **data))

    def _dependent(self, id: str) -> Manifest:
        """In the other namespace, and dependent on the one that is kept."""
        return resource(id, config_map(f"{self.name}-{id}", self._other), dependIds=["kept"])

    async def _write(self, config_maps: list[Manifest]) -> None:
        spec = {"uid": self.name, "templateRef": "t", "templateGeneration": 1, "configMaps": config_maps}
        metadata = {"name": self.name, "namespace": self.namespace}
        manifest = {
            "apiVersion": TENANT_KIND.api_version,
            "kind": "Tenant",
            "metadata": metadata,
            "spec": spec,
        }
        await self._client.apply(manifest, ApplyOptions(manager="registry"))

    async def _objects(self) -> dict[str, dict[str, str]]:
        selector = f"{TENANT}={self.name},{TENANT_NAMESPACE}={self.namespace}"
        found = await self._client.list(CONFIG_MAP, ListQuery(label_selector=selector))
        return {
            each["metadata"]["name"].removeprefix(f"{self.name}-"): each.get("data") or {}
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

        await eventually(is_reached, f"{self.name} has {expected}")

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


class ScenarioTarget(NamedTuple):
    client: Client
    namespace: str
    other: str


@pytest.fixture
def target(kubectl: Kubectl, client: Client, namespace: str, other: str) -> ScenarioTarget:
    return ScenarioTarget(client, namespace, other)


async def operator_settings(control_plane: ControlPlane, namespace: str) -> Settings:
    kubeconfig = await asyncio.to_thread(operator_kubeconfig, TENANTS, control_plane)
    return settings_from(
        {},
        {
            "kubeconfig": str(kubeconfig),
            "namespaces": namespace,
            "leader_elect": "false",
            "metrics_bind_address": "0",
            "health_probe_bind_address": "0",
            "webhooks": "off",
        },
    )


async def run_one_after_another(*scenarios: TenantScenario) -> None:
    for scenario in scenarios:
        await scenario.run()


async def test_a_kill_at_any_write_leads_to_the_same_result(
    target: ScenarioTarget, control_plane: ControlPlane
) -> None:
    settings = await operator_settings(control_plane, target.namespace)
    killed: tuple[TenantScenario, ...] = ()
    with no_logged_errors():
        for nth in range(1, MAX_WRITES):
            scenario = TenantScenario(target, f"crash-{nth}")
            # Crashes after the write is committed and before its answer: also the state before the next write is sent.
            at = CrashPoint(nth, CrashTiming.AFTER, writes_for(scenario.name))
            until = run_one_after_another(*killed, scenario)
            if await run_until_crash(OPERATORS, settings, at, until=until):
                break
            killed = (scenario,)
    # A finalizer, four objects, a change, an ignored field, four deletes and the statuses between them.
    assert 10 < nth < MAX_WRITES
