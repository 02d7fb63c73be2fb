"""Starts control planes for tests, and finds running ones; what is missing fails the test with the cure."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.local import control_plane as local
from steward.local.errors import LocalError
from steward.local.processes import Lifetime
from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import SilentProgress
from steward.local.settings import ControlPlaneSettings
from tests.support.rbac_comparison import PermissionRecord

UNUSED_CONTROLLERS = (
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "persistentvolume-attach-detach-controller",
    "ttl-controller",
)
"""No test reads what they write, and they cost the API server one of ten requests."""

API_SERVER_FLAGS = ("--enable-priority-and-fairness=false",)
"""No test is about the queues of the API server, and each request waits in one of them."""


@contextmanager
def running_control_plane(record: PermissionRecord, *admission_plugins: str) -> Iterator[str]:
    """Runs a control plane in a temporary directory and yields that; at the end, `record` reads its audit log."""
    directory = Path(tempfile.mkdtemp(prefix="steward-test-"))
    # A separate event loop: asyncio.run would replace the one that pytest-asyncio has set.
    loop = asyncio.new_event_loop()
    try:
        settings = ControlPlaneSettings(
            directory,
            lifetime=Lifetime.PARENT,
            admission_plugins=admission_plugins,
            disabled_controllers=UNUSED_CONTROLLERS,
            api_server_flags=API_SERVER_FLAGS,
        )
        loop.run_until_complete(_start(settings))
        yield str(directory)
    finally:
        loop.run_until_complete(local.stop(directory))
        loop.close()
        record.read(directory)
        shutil.rmtree(directory, ignore_errors=True)


async def _start(settings: ControlPlaneSettings) -> None:
    if not all(map(binaries.is_built, PROGRAMS.values())):
        pytest.fail(
            "the control plane is not built yet: run `make binaries`, which takes minutes and reports its progress"
        )
    try:
        await local.start(settings, SilentProgress())
    except LocalError as error:
        pytest.fail(f"the tests need a control plane: {error}")


def found_control_plane(directory: Path) -> local.ControlPlane:
    try:
        return local.find(directory)
    except LocalError as error:
        pytest.fail(f"the control plane in {directory}: {error}")
