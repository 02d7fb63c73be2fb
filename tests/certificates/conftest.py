from pathlib import Path

import pytest

from steward.certificates.authority import KeyPair
from steward.kube.client.client import connect
from steward.kube.config.loader import ConfigSource, load_settings
from tests.certificates.support.leaves import new_authority, write_leaf


@pytest.fixture
def authority() -> KeyPair:
    return new_authority()


@pytest.fixture
def cert_dir(tmp_path, authority) -> Path:
    write_leaf(tmp_path, authority)
    return tmp_path


@pytest.fixture
async def client(control_plane):
    """A client of the real API server."""
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    yield client
    await client.close()
