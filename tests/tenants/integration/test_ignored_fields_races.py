"""Another client edits an ignored field while the operator writes the object: no edit is lost.

The operator reads an object and then applies it. Each test holds one of its writes in a proxy, edits the field on the
API server, and lets the write go on; it does so for every write of the scenario in turn.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from steward.install.operators import TENANTS
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.local.control_plane import ControlPlane
from steward.testkit import FaultProxy, Match, Rule
from steward.testkit.proxy.faults import Hold
from tests.support.identities import operator_kubeconfig
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process_async
from tests.tenants.support.fleet import Fleet, config_map, resource

MAX_WRITES = 12
IGNORED = ["$.data.state", "$.metadata.annotations"]


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
async def proxy(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FaultProxy]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    async with FaultProxy(operator_kubeconfig(TENANTS, control_plane)) as proxy:
        operator = OperatorProcess("tenants", proxy.kubeconfig, namespace, log)
        async with run_operator_process_async(operator):
            yield proxy


class EditedObject:
    """A ConfigMap of a Tenant; `edit` changes it as another client does."""

    def __init__(self, client: Client, fleet: Fleet, name: str) -> None:
        self._client = client
        self._fleet = fleet
        self._name = name
        self._ref = Ref(CONFIG_MAP, Key(fleet.namespace, name))

    async def apply(self, state: str, version: str, **options: Any) -> None:
        manifest = config_map(self._name, state=state, version=version)
        manifest["metadata"]["annotations"] = {"example.com/note": state}
        wanted = resource("app", manifest, **options)
        await asyncio.to_thread(self._fleet.tenant, self._name, configMaps=[wanted])

    async def until_ready(self) -> None:
        await asyncio.to_thread(self._fleet.until_ready, self._name)

    async def edit(self, state: str | None) -> None:
        change = {"data": {"state": state}, "metadata": {"annotations": {"example.com/note": state}}}
        await self._client.patch(self._ref, MergePatch(change), manager="editor")

    async def state(self) -> tuple[str | None, str | None, str]:
        found = await self._client.get(*self._ref)
        note = (found["metadata"].get("annotations") or {}).get("example.com/note")
        return found["data"].get("state"), note, found["data"]["version"]


async def edit_before_write(
    proxy: FaultProxy, target: EditedObject, nth: int, edit: str | None, change: Callable[[], Awaitable[None]]
) -> bool:
    """Whether the change caused an nth write, before which the edit was made."""
    writes = Match(verb="patch", resource="configmaps", write=True)
    rule = proxy.add(Rule(writes, Hold(), first=nth, count=1))
    await change()
    ready = asyncio.create_task(target.until_ready())
    held = asyncio.create_task(rule.held.wait())
    await asyncio.wait({ready, held}, return_when=asyncio.FIRST_COMPLETED)
    is_held = rule.held.is_set()
    if is_held:
        await target.edit(edit)
    held.cancel()
    proxy.remove(rule)
    await ready
    return is_held


@pytest.mark.timeout(600)
@pytest.mark.parametrize("edit", ["edited", None])
async def test_an_edit_while_fields_become_ignored_is_kept(
    client: Client, proxy: FaultProxy, kubectl: Kubectl, namespace: str, edit: str | None
) -> None:
    fleet = Fleet(kubectl, namespace)
    for nth in range(1, MAX_WRITES):
        target = EditedObject(client, fleet, f"later-{nth}")
        await target.apply("first", "1")
        await target.until_ready()
        is_edited = await edit_before_write(
            proxy, target, nth, edit, partial(target.apply, "other", "2", ignoreFields=IGNORED)
        )
        if not is_edited:
            break
        assert await target.state() == (edit, edit, "2"), f"the edit before write {nth}"
    assert 2 < nth < MAX_WRITES, "the second manager takes the fields over, then the operator drops them"
    assert await target.state() == ("first", "first", "2"), "without an edit, the live values stay"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("edit", ["edited", None])
async def test_an_edit_of_a_new_object_is_kept_and_fields_that_no_client_has_set_are_seeded(
    client: Client, proxy: FaultProxy, kubectl: Kubectl, namespace: str, edit: str | None
) -> None:
    fleet = Fleet(kubectl, namespace)
    # The first write creates the object.
    for nth in range(2, MAX_WRITES):
        target = EditedObject(client, fleet, f"new-{nth}")
        is_edited = await edit_before_write(
            proxy, target, nth, edit, partial(target.apply, "first", "1", ignoreFields=IGNORED)
        )
        if not is_edited:
            break
        assert await target.state() == (edit, edit, "1"), f"the edit before write {nth}"
    assert 3 < nth < MAX_WRITES, "seed, apply and release"
    assert await target.state() == ("first", "first", "1")
