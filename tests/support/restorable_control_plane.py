"""A control plane of a test's own whose etcd can be set back to an earlier state, as by a restore from a backup."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from steward.local.processes import Lifetime
from steward.local.progress import SilentProgress
from steward.local.settings import ControlPlaneSettings, Layout
from tests.support.control_planes import API_SERVER_FLAGS, UNUSED_CONTROLLERS

T = TypeVar("T")


class RestorableControlPlane:
    def __init__(self, directory: Path) -> None:
        self._settings = ControlPlaneSettings(
            directory / "plane",
            lifetime=Lifetime.PARENT,
            disabled_controllers=UNUSED_CONTROLLERS,
            api_server_flags=API_SERVER_FLAGS,
        )
        self._data = Layout(self._settings.directory).data
        self._backup = directory / "backup"
        # A separate event loop: asyncio.run would replace the one that pytest-asyncio has set.
        self._loop = asyncio.new_event_loop()
        self.found = self._start()

    def take_backup(self) -> None:
        """With etcd stopped, so that a copy of its files is a consistent state."""
        self._stop()
        shutil.copytree(self._data, self._backup)
        self._start()

    def restart(self) -> None:
        self._stop()
        self._start()

    def restore(self) -> None:
        """Everything that was written since the backup is gone, and resourceVersions are used a second time."""
        self._stop()
        shutil.rmtree(self._data)
        shutil.copytree(self._backup, self._data)
        self._start()

    def close(self) -> None:
        self._stop()
        self._loop.close()

    def _start(self) -> ControlPlane:
        return self._run(local.start(self._settings, SilentProgress()))

    def _stop(self) -> None:
        self._run(local.stop(self._settings.directory))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)


@contextmanager
def restorable_control_plane() -> Iterator[RestorableControlPlane]:
    directory = Path(tempfile.mkdtemp(prefix="steward-restore-"))
    plane = RestorableControlPlane(directory)
    try:
        yield plane
    finally:
        plane.close()
        shutil.rmtree(directory, ignore_errors=True)
