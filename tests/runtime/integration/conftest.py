from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local.control_plane import ControlPlane
from steward.testkit import FaultProxy
from tests.runtime.integration.support.greetings import Sample, World, crd, install, sample
from tests.support import namespaces

StartSample = Callable[..., AbstractAsyncContextManager[Sample]]


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
async def proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(control_plane.kubeconfig) as proxy:
        yield proxy


@pytest.fixture
async def world(client: Client, namespace: str) -> AsyncIterator[World]:
    await install(client, crd())
    world = World(client, namespace)
    yield world
    if namespaces.kept_plane():
        await world.leave_nothing()


@pytest.fixture
def start_sample(tmp_path: Path, namespace: str) -> StartSample:
    """Starts the sample for this test's namespace: `async with start_sample(proxy, **variables) as sample:`."""
    log = tmp_path / "sample.log"
    return partial(sample, log=log, STEWARD_NAMESPACES=namespace, STEWARD_NAMESPACE=namespace)
