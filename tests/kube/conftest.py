"""Fixtures: a client of the real API server."""

from collections.abc import AsyncIterator

import pytest

from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.settings import ConnectionSettings
from steward.local.control_plane import ControlPlane


@pytest.fixture
def settings(control_plane: ControlPlane) -> ConnectionSettings:
    return load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig)))


@pytest.fixture
async def client(settings: ConnectionSettings) -> AsyncIterator[Client]:
    client = await connect(settings)
    yield client
    await client.close()
