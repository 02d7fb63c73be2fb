"""Helpers for the tests of the sample controller: Greetings and the controller process."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from steward.kube.client.client import Client
from steward.kube.crd.schema import CustomKind, definition
from steward.kube.errors import AlreadyExists, NoSuchKind, NotFound
from steward.kube.objects.kinds import (
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    DEPLOYMENT,
    LEASE,
    Key,
    Kind,
    Manifest,
    Ref,
)
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch
from steward.testkit import FaultProxy
from tests.runtime.integration.support.sample_controller import FINALIZER, GREETING, NAME, Greeting
from tests.support.prepared_process import PreparedProcess, forks_of

PROGRAM = Path(__file__).with_name("sample_controller.py")
TIMEOUT_SECONDS = 120.0
END_POLL_SECONDS = 0.02
# Short enough for a test to wait for its expiry, long enough for a leader on a busy machine to renew it.
SHORT_LEASE = {
    "STEWARD_LEASE_DURATION": "8s",
    "STEWARD_RENEW_DEADLINE": "6s",
    "STEWARD_RETRY_PERIOD": "300ms",
}
USUAL_LEASE: dict[str, str] = {}
NO_ELECTION = {"STEWARD_LEADER_ELECT": "false"}


def crd(group: str = GREETING.group) -> Manifest:
    return definition(CustomKind(group, "v1", "Greeting", "greetings", Greeting))


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Waits until the condition holds; fails with `what` if it does not."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await condition():
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"never came true: {what}") from None


class GreetingClient:
    """The API server as a user of Greetings sees it, without a proxy."""

    def __init__(self, client: Client, namespace: str, kind: Kind = GREETING) -> None:
        self.client = client
        self.namespace = namespace
        self.kind = kind

    def key(self, name: str) -> Key:
        return Key(self.namespace, name)

    async def create(self, name: str, message: str = "hello", replicas: int = 1) -> None:
        metadata = {"name": name, "namespace": self.namespace}
        spec = {"message": message, "replicas": replicas}
        await self.client.create(
            {"apiVersion": self.kind.api_version, "kind": "Greeting", "metadata": metadata, "spec": spec}
        )

    async def change(self, name: str, message: str) -> None:
        await self.client.patch(Ref(self.kind, self.key(name)), MergePatch({"spec": {"message": message}}))

    async def delete(self, name: str) -> None:
        await self.client.delete(Ref(self.kind, self.key(name)))

    async def find(self, kind: Kind, name: str) -> Manifest | None:
        try:
            return await self.client.get(kind, self.key(name))
        except NotFound:
            return None

    async def wait_until_reconciled(self, name: str, message: str = "hello", replicas: int = 1) -> None:
        async def greeted() -> bool:
            found = [await self.find(kind, name) for kind in (self.kind, CONFIG_MAP, DEPLOYMENT)]
            return None not in found and is_reconciled(found, message, replicas)

        await eventually(greeted, f"{name} greets with {message!r}")

    async def wait_until_gone(self, kind: Kind, name: str) -> None:
        async def gone() -> bool:
            return await self.find(kind, name) is None

        await eventually(gone, f"{kind.kind} {name} is gone")

    async def wait_until_deleted(self, name: str) -> None:
        for kind in (self.kind, DEPLOYMENT, CONFIG_MAP):
            await self.wait_until_gone(kind, name)

    async def remove_finalizers(self) -> None:
        """Removes the finalizers: without a controller the namespace would never be deleted."""
        for greeting in (await self.client.list(self.kind, ListQuery(namespace=self.namespace))).items:
            key = self.key(greeting["metadata"]["name"])
            with suppress(NotFound):
                await self.client.patch(Ref(self.kind, key), MergePatch({"metadata": {"finalizers": None}}))

    async def holder(self) -> str:
        lease = await self.find(LEASE, NAME)
        return str((lease or {}).get("spec", {}).get("holderIdentity", ""))

    async def wait_until_led(self, other_than: str = "") -> str:
        """Waits until another process holds the lease; returns its identity."""

        async def led() -> bool:
            return await self.holder() not in ("", other_than)

        await eventually(led, "a process leads")
        return await self.holder()


def is_reconciled(found: list[Any], message: str, replicas: int) -> bool:
    greeting, config_map, deployment = found
    return all(
        (
            greeting["metadata"].get("finalizers") == [FINALIZER],
            greeting.get("status") == {"ready": True, "readyReplicas": replicas},
            config_map["data"] == {"message": message},
            deployment["spec"]["replicas"] == replicas,
            deployment["metadata"]["ownerReferences"][0]["uid"] == greeting["metadata"]["uid"],
        )
    )


class SampleProcess:
    """The sample controller as a process."""

    def __init__(self, process: PreparedProcess, log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def wait(self) -> int:
        # Not in a thread: it would stay behind when the caller is cancelled.
        while (code := self.returncode) is None:
            await asyncio.sleep(END_POLL_SECONDS)
        return code

    async def ended(self) -> int:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await self.wait()

    @property
    def runs(self) -> bool:
        return self.returncode is None


StartSample = Callable[..., AbstractAsyncContextManager[SampleProcess]]


@asynccontextmanager
async def running_sample(proxy: FaultProxy, log: Path, **environment: str) -> AsyncIterator[SampleProcess]:
    """Runs the sample through the proxy and kills it at the end if it still runs."""
    quiet = {"STEWARD_METRICS_BIND_ADDRESS": "0", "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0"}
    variables = {**os.environ, "KUBECONFIG": str(proxy.kubeconfig), **quiet, **environment}
    with log.open("ab") as output:
        process = forks_of(str(PROGRAM), ()).start([str(PROGRAM)], variables, output.fileno())
    running = SampleProcess(process, log)
    try:
        yield running
    finally:
        if running.runs:
            running.signal(signal.SIGKILL)
            await running.ended()


async def install(client: Client, definition: Manifest) -> None:
    """Creates the kind, unless another test worker was faster, and waits until the server serves it."""
    with suppress(AlreadyExists):
        await client.create(definition)
    kind = Kind(f"{definition['spec']['group']}/v1", "Greeting")

    async def served() -> bool:
        try:
            await client.list(kind)
        except NoSuchKind:
            return False
        return True

    await eventually(served, f"{kind} is served")


async def uninstall(client: Client, name: str) -> None:
    await client.delete(Ref(CUSTOM_RESOURCE_DEFINITION, Key("", name)))

    async def gone() -> bool:
        try:
            await client.get(CUSTOM_RESOURCE_DEFINITION, Key("", name))
        except NotFound:
            return True
        return False

    await eventually(gone, f"{name} is gone")
