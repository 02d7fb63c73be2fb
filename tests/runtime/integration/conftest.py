from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local.control_plane import ControlPlane
from steward.testkit import FaultProxy
from tests.runtime.integration.support.greetings import (
    GreetingClient,
    StartSample,
    crd,
    install,
    running_sample,
)
from tests.support import namespaces


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
async def greetings(client: Client, namespace: str) -> AsyncIterator[GreetingClient]:
    await install(client, crd())
    greetings = GreetingClient(client, namespace)
    yield greetings
    if namespaces.external_control_plane():
        await greetings.remove_finalizers()


@pytest.fixture
def start_sample(tmp_path: Path, namespace: str) -> StartSample:
    """Starts the sample for this test's namespace: `async with start_sample(proxy, **variables) as sample:`."""
    log = tmp_path / "sample.log"
    return partial(running_sample, log=log, STEWARD_NAMESPACES=namespace, STEWARD_NAMESPACE=namespace)
