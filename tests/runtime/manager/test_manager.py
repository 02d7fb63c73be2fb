"""Start, leader election, serving and stop, with a real API server behind a proxy."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace

from steward.kube.cache import caches
from steward.kube.cache.rules import CacheRule
from steward.kube.client.client import Client
from steward.kube.objects.kinds import CONFIG_MAP, LEASE, SECRET, Key
from steward.kube.objects.meta import Metadata
from steward.local.control_plane import ControlPlane
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import For
from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.observability.http_server import ServingError
from steward.runtime.reconcile import DONE, Result
from steward.testkit import FaultProxy, Hold, Match, Rule
from tests.runtime.integration.support.greetings import eventually


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
async def proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


@pytest.fixture
def listening(settings: Settings, proxy: FaultProxy) -> Settings:
    """Settings through the proxy, with probes and plain metrics on their own ports."""
    return replace(
        settings,
        kubeconfig=str(proxy.kubeconfig),
        health_probe_bind_address=free_address(),
        metrics_bind_address=free_address(),
        metrics_secure=False,
    )


class RecordingController:
    """A controller of ConfigMaps that writes nothing."""

    def __init__(self, namespace: str) -> None:
        self.rule = CacheRule(CONFIG_MAP, Metadata, {namespace: ""})
        self.reconciled: list[str] = []

    async def reconcile(self, key: Key) -> Result:
        self.reconciled.append(key.name)
        return DONE

    def controller(self) -> Controller:
        return Controller("noter", self, (For(self.rule),), workers=3)


class RecordingService:
    """A service that records its start and stop."""

    name = "webhook"

    def __init__(self, notes: list[str], fails: str = "") -> None:
        self.notes = notes
        self._fails = fails
        self._serves = False

    async def start(self) -> None:
        self.notes.append("start")
        if self._fails:
            raise ServingError(self._fails)
        self._serves = True

    async def stop(self) -> None:
        self.notes.append("stop")

    def problem(self) -> str:
        return "" if self._serves else "not serving yet"


async def new_manager(settings: Settings) -> Manager:
    return Manager(await open_connection(settings, identity("engine-test")), settings)


@asynccontextmanager
async def running(manager: Manager) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(manager.run())
    try:
        yield task
    finally:
        manager.stop()
        await task


async def get(address: str, path: str) -> tuple[int, str]:
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://{address}{path}") as answer:
            return answer.status, await answer.text()
    except aiohttp.ClientConnectionError:
        return 0, ""


async def wait_for_status(address: str, path: str, status: int) -> str:
    found = (0, "")

    async def has_status() -> bool:
        nonlocal found
        found = await get(address, path)
        return found[0] == status

    await eventually(has_status, f"{path} answers {status}")
    return found[1]


async def test_readyz_fails_until_the_caches_are_synced_and_then_shows_the_leader(
    listening: Settings, proxy: FaultProxy, namespace: str
) -> None:
    held = proxy.add(Rule(Match(verb="watch", resource="configmaps"), Hold()))
    manager = await new_manager(listening)
    manager.add(RecordingController(namespace).controller())
    async with running(manager):
        body = await wait_for_status(listening.health_probe_bind_address, "/readyz", 500)
        assert "[-] caches: ConfigMap is being listed" in body
        assert (await get(listening.health_probe_bind_address, "/healthz"))[0] == 200
        proxy.remove(held)
        await wait_for_status(listening.health_probe_bind_address, "/readyz", 200)
        await wait_until_leading(manager)
        body = await wait_for_status(listening.health_probe_bind_address, "/readyz", 200)
        assert f"[ ] lease: {namespace}/engine-test is held by this process" in body


async def test_a_watch_added_later_that_hangs_does_not_make_the_process_unready(
    listening: Settings, proxy: FaultProxy, namespace: str
) -> None:
    held = proxy.add(Rule(Match(verb="watch", resource="secrets"), Hold()))
    manager = await new_manager(listening)
    manager.add(RecordingController(namespace).controller())
    async with running(manager):
        await wait_for_status(listening.health_probe_bind_address, "/readyz", 200)
        later = manager.store(CacheRule(SECRET, Metadata, {namespace: ""}))
        await wait_for_status(listening.health_probe_bind_address, "/readyz", 200)
        assert not later.synced
        proxy.remove(held)
        await later.wait_synced()


async def test_a_cache_that_fills_last_is_listed_after_the_others_and_no_controller_waits_for_it(
    listening: Settings, proxy: FaultProxy, namespace: str
) -> None:
    recorder = RecordingController(namespace)
    held = proxy.add(Rule(Match(verb="watch", resource="configmaps"), Hold()))
    held_last = proxy.add(Rule(Match(verb="watch", resource="secrets"), Hold()))
    manager = await new_manager(listening)
    manager.add(recorder.controller())
    last = manager.store(CacheRule(SECRET, Metadata, {namespace: ""}, fills_last=True))
    async with running(manager):
        await wait_for_status(listening.health_probe_bind_address, "/readyz", 500)
        await held.until_hit()
        assert held_last.hits == 0
        proxy.remove(held)
        await wait_until_leading(manager)
        await wait_for_status(listening.health_probe_bind_address, "/readyz", 200)
        assert not last.synced
        proxy.remove(held_last)
        await last.wait_synced()


async def test_a_cache_that_fills_last_is_listed_after_the_first_work_of_a_controller(
    listening: Settings, proxy: FaultProxy, namespace: str
) -> None:
    work, held = asyncio.Event(), proxy.add(Rule(Match(verb="watch", resource="secrets"), Hold()))
    manager = await new_manager(listening)
    manager.store(CacheRule(SECRET, Metadata, {namespace: ""}, fills_last=True))
    manager.caches.fill_last_after(lambda: _wait_for(work))
    async with running(manager):
        await wait_until_leading(manager)
        assert held.hits == 0
        work.set()
        await held.until_hit()
        proxy.remove(held)


async def test_a_cache_that_fills_last_does_not_wait_for_work_that_never_ends(
    listening: Settings, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "LAST_LISTS_DELAY", 0.01)
    manager = await new_manager(listening)
    last = manager.store(CacheRule(SECRET, Metadata, {namespace: ""}, fills_last=True))
    manager.caches.fill_last_after(lambda: _wait_for(asyncio.Event()))
    async with running(manager), asyncio.timeout(60):
        await last.wait_synced()


async def _wait_for(work: asyncio.Event) -> None:
    await work.wait()


async def wait_until_leading(manager: Manager) -> None:
    async def is_leading() -> bool:
        return "held by this process" in manager._election.description

    await eventually(is_leading, "the manager leads")


async def test_a_controller_runs_and_has_the_metrics_that_dashboards_use(
    listening: Settings, client: Client, namespace: str
) -> None:
    recorder = RecordingController(namespace)
    manager = await new_manager(listening)
    manager.add(recorder.controller())
    async with running(manager):
        await wait_until_leading(manager)
        await client.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}
        )

        async def is_reconciled() -> bool:
            return "a" in recorder.reconciled

        await eventually(is_reconciled, "the ConfigMap is reconciled")
        _, page = await get(listening.metrics_bind_address, "/metrics")
    for line in (
        'controller_runtime_reconcile_total{controller="noter",result="success"} ',
        'controller_runtime_reconcile_errors_total{controller="noter"} 0.0',
        'controller_runtime_reconcile_time_seconds_count{controller="noter"} ',
        'controller_runtime_active_workers{controller="noter"} ',
        'controller_runtime_max_concurrent_reconciles{controller="noter"} 3.0',
        'workqueue_depth{controller="noter",name="noter"} ',
        'workqueue_adds_total{controller="noter",name="noter"} ',
        'workqueue_queue_duration_seconds_count{controller="noter",name="noter"} ',
        'workqueue_work_duration_seconds_count{controller="noter",name="noter"} ',
        'workqueue_retries_total{controller="noter",name="noter"} 0.0',
        'rest_client_requests_total{code="200",host="127.0.0.1:',
        'leader_election_master_status{name="engine-test"} 1.0',
        "process_resident_memory_bytes ",
    ):
        assert line in page


async def test_services_start_after_the_caches_and_stop_after_the_controllers(
    settings: Settings, namespace: str
) -> None:
    notes: list[str] = []
    manager = await new_manager(settings)
    recorder = RecordingController(namespace)
    manager.add(recorder.controller())
    manager.add_service(RecordingService(notes))
    async with running(manager):
        await wait_until_leading(manager)
        assert notes == ["start"]
    assert notes == ["start", "stop"]


async def test_a_service_that_cannot_start_ends_the_run_in_order(settings: Settings, client: Client) -> None:
    notes: list[str] = []
    manager = await new_manager(settings)
    manager.add_service(RecordingService(notes, fails="port 9443 is taken"))
    with pytest.raises(ServingError, match="port 9443 is taken"):
        await manager.run()
    assert notes == ["start", "stop"]


async def test_a_stop_releases_the_lease(settings: Settings, client: Client, namespace: str) -> None:
    manager = await new_manager(settings)
    async with running(manager):
        await wait_until_leading(manager)
    lease = await client.get(LEASE, Key(namespace, "engine-test"))
    assert not lease["spec"].get("holderIdentity")


async def test_sigterm_requests_an_orderly_stop(settings: Settings, client: Client, namespace: str) -> None:
    manager = await new_manager(settings)
    task = asyncio.create_task(manager.run())
    await wait_until_leading(manager)
    assert (await client.get(LEASE, Key(namespace, "engine-test")))["spec"]["holderIdentity"]
    os.kill(os.getpid(), signal.SIGTERM)
    await task
    lease = await client.get(LEASE, Key(namespace, "engine-test"))
    assert not lease["spec"].get("holderIdentity"), "an orderly stop releases the lease"


async def test_without_election_controllers_run_at_once_and_no_lease_is_made(
    settings: Settings, client: Client, namespace: str
) -> None:
    recorder = RecordingController(namespace)
    manager = await new_manager(replace(settings, leader_elect=False))
    manager.add(recorder.controller())
    async with running(manager):

        async def is_reconciled() -> bool:
            return bool(recorder.reconciled)

        await eventually(is_reconciled, "something is reconciled")
    assert not (await client.list(LEASE)).items or "engine-test" not in await lease_names(client, namespace)


async def lease_names(client: Client, namespace: str) -> list[Any]:
    leases = (await client.list(LEASE)).items
    return [lease["metadata"]["name"] for lease in leases if lease["metadata"]["namespace"] == namespace]


async def test_the_settings_set_the_number_of_workers_of_a_controller(
    settings: Settings, namespace: str
) -> None:
    manager = await new_manager(replace(settings, workers={"noter": 7}))
    loop = manager.add(RecordingController(namespace).controller())
    assert loop.controller.workers == 7
    await manager.connection.close()


async def test_controllers_write_only_while_leading_and_replica_clients_always(
    settings: Settings, namespace: str
) -> None:
    from steward.kube.errors import LeaseLost

    manager = await new_manager(settings)
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}
    with pytest.raises(LeaseLost, match="does not hold the lease"):
        await manager.client.create(made)
    await manager.connection.replica_client.create(made)
    await manager.connection.close()
