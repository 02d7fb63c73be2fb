"""The fake data plane of a control plane, which all workers of a run share: one process, with every etcd in its memory.

The first operator that needs one starts it. `tests/testkit/fake_data_plane` and the tests of the topology run their own
ones, with real etcd servers.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.local.processes import Lifetime, Service
from steward.testkit.fake_data_plane import EtcdKind
from tests.support.shared import shared_resource

FAST_FLAGS = ("--start-seconds=0.2", "--stream-seconds=0.1", "--failover-seconds=0.5", "--switch-seconds=0.2")
STOP_SECONDS = 60.0


class SharedDataPlanes:
    """The data planes of a run; `in_use` releases them at its end."""

    def __init__(self, in_use: ExitStack, directory: Path) -> None:
        self._in_use = in_use
        self._directory = directory
        self._started: dict[Path, str] = {}

    def connect_to(self, plane: ControlPlane) -> str:
        """The value of `--connect-to` for an operator on this control plane."""
        if plane.directory not in self._started:
            name = hashlib.sha256(str(plane.directory).encode()).hexdigest()[:12]
            directory = self._directory / f"data-plane-{name}"
            directory.mkdir(exist_ok=True)
            shared = shared_resource(directory, lambda: running_data_plane(plane.kubeconfig))
            self._started[plane.directory] = self._in_use.enter_context(shared)
        return self._started[plane.directory]


_SESSION: list[SharedDataPlanes] = []


def open_session(in_use: ExitStack, directory: Path) -> None:
    """Called by the fixture of the control plane; operators are started by functions that have no fixtures."""
    _SESSION[:] = [SharedDataPlanes(in_use, directory)]


def connect_to(plane: ControlPlane) -> str:
    assert _SESSION, "the test needs the fixture `control_plane`"
    return _SESSION[0].connect_to(plane)


def forwards_file(plane: ControlPlane) -> Path:
    """The file of forwards, for clients of a test."""
    return Path(connect_to(plane)[1:])


@contextmanager
def running_data_plane(kubeconfig: Path) -> Iterator[str]:
    """A data plane for all namespaces that must not fail; yields the value of `--connect-to`."""
    with tempfile.TemporaryDirectory(prefix="steward-data-plane-", ignore_cleanup_errors=True) as directory:
        with started_data_plane(kubeconfig, Path(directory)) as service:
            yield connect_to_file(Path(directory))
            assert service.is_running(), service.log_tail()
        assert "Traceback" not in (text := service.logfile.read_text()), text


@contextmanager
def started_data_plane(kubeconfig: Path, directory: Path) -> Iterator[Service]:
    """Call this in the main thread: the kernel kills it with the thread that starts it, so that an interrupted run
    leaves no process behind."""
    assert threading.current_thread() is threading.main_thread()
    service = Service("data-plane", directory)
    service.start(command(kubeconfig, directory), Lifetime.PARENT)
    # A separate event loop: asyncio.run would replace the one that pytest-asyncio has set.
    loop = asyncio.new_event_loop()
    try:
        yield service
    finally:
        loop.run_until_complete(service.stop(STOP_SECONDS))
        loop.close()


def connect_to_file(directory: Path) -> str:
    return f"@{directory / 'connect-to'}"


def command(kubeconfig: Path, directory: Path) -> list[str]:
    where = [f"--kubeconfig={kubeconfig}", f"--directory={directory}", f"--etcd={EtcdKind.MEMORY.value}"]
    return [sys.executable, "-m", "steward.testkit.fake_data_plane", *where, *FAST_FLAGS]
