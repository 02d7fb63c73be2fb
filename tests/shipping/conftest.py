"""A control plane of its own: an installation is cluster-wide, and these tests take definitions away."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local import control_plane as local
from steward.local.processes import Lifetime
from steward.local.progress import Silent
from steward.local.settings import ControlPlaneSettings
from tests.kubectl import Kubectl


@pytest.fixture(scope="package")
def own_plane() -> Iterator[local.ControlPlane]:
    directory = Path(tempfile.mkdtemp(prefix="steward-shipping-"))
    loop = asyncio.new_event_loop()
    try:
        settings = ControlPlaneSettings(directory, lifetime=Lifetime.PARENT)
        yield loop.run_until_complete(local.start(settings, Silent()))
    finally:
        loop.run_until_complete(local.stop(directory))
        loop.close()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="package")
def own_kubectl(own_plane: local.ControlPlane) -> Kubectl:
    return Kubectl(own_plane.kubeconfig)
