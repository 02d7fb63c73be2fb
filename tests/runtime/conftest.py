from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.local.control_plane import ControlPlane
from steward.runtime.manager.clients import Connection, open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.settings import Settings


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[Client]:
    """A client without hooks, for assertions."""
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()


@pytest.fixture
def settings(control_plane: ControlPlane, namespace: str) -> Settings:
    """Settings of a manager in this test's namespace, without listeners."""
    return Settings(
        kubeconfig=str(control_plane.kubeconfig),
        namespace=namespace,
        namespaces=(namespace,),
        lease_duration=3.0,
        renew_deadline=2.0,
        retry_period=0.2,
        metrics_bind_address="0",
        health_probe_bind_address="0",
    )


@pytest.fixture
async def connection(settings: Settings) -> AsyncIterator[Connection]:
    connection = await open_connection(settings, identity("engine-test"))
    yield connection
    await connection.close()
