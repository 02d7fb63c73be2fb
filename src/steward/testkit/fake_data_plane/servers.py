"""Keeps one etcd running for each TopoServer that should have one, and says in a file how to reach them.

Level-triggered: `keep` compares what is wanted with what runs, so an etcd that died is started again like one that
never ran. The file is in the form of `--connect-to @FILE`.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.resolution.defaults import ETCD_CLIENT_PORT
from steward.runtime.manager.connect_to import Forward, write_forwards
from steward.testkit.fake_data_plane.etcd_process import EtcdProcess
from steward.testkit.fake_data_plane.faults import NONE, Misbehaviour, Misbehaviours

log = logging.getLogger(__name__)

RESTART_SECONDS = 1.0


class ServerWish(NamedTuple):
    """A TopoServer as it should be: `has_quorum` when most of its pods are ready."""

    key: Key
    uid: str
    has_quorum: bool
    wrong: Misbehaviours = NONE


class TopologyServers:
    def __init__(self, program: Path, directory: Path, clock: Clock) -> None:
        self._program = program
        self._directory = directory
        self._clock = clock
        self._processes: dict[str, EtcdProcess] = {}
        self._keys: dict[str, Key] = {}
        self._started: dict[str, float] = {}
        self._told: frozenset[Forward] | None = None

    @property
    def forwards_file(self) -> Path:
        return self._directory / "connect-to"

    def of(self, key: Key) -> EtcdProcess | None:
        """The etcd of this TopoServer, running or not."""
        return next((self._processes[uid] for uid, known in self._keys.items() if known == key), None)

    async def keep(self, wishes: Iterable[ServerWish]) -> None:
        wanted = {wish.uid: wish for wish in wishes}
        await asyncio.gather(*(self._remove(uid) for uid in set(self._processes) - set(wanted)))
        await asyncio.gather(*(self._bring(wish) for wish in wanted.values()))
        self._tell()

    def tidy(self, wanted: set[str]) -> None:
        """Removes the data of TopoServers that went while nobody looked."""
        for left in self._data().glob("*"):
            if left.name not in wanted:
                shutil.rmtree(left, ignore_errors=True)

    async def stop(self) -> None:
        """Ends every etcd; their data stays for the next time."""
        await asyncio.gather(*(process.stop() for process in self._processes.values()))

    def _data(self) -> Path:
        return self._directory / "etcd"

    async def _remove(self, uid: str) -> None:
        process = self._processes.pop(uid)
        self._keys.pop(uid)
        self._started.pop(uid, None)
        await process.remove()

    async def _bring(self, wish: ServerWish) -> None:
        process = self._processes.get(wish.uid)
        if not wish.has_quorum or Misbehaviour.DEAD_ETCD in wish.wrong:
            if process is not None and process.is_running():
                self._started.pop(wish.uid, None)
                await process.stop()
            return
        if process is None:
            process = self._processes[wish.uid] = EtcdProcess(self._program, self._data() / wish.uid)
            self._keys[wish.uid] = wish.key
        self._see_that_it_runs(process, wish)

    def _see_that_it_runs(self, process: EtcdProcess, wish: ServerWish) -> None:
        if not process.is_running():
            now = self._clock.monotonic()
            if now - self._started.get(wish.uid, -RESTART_SECONDS) < RESTART_SECONDS:
                return
            if wish.uid in self._started:
                log.warning("the etcd of %s is started again; it said last: %s", wish.key, process.log_tail())
            self._started[wish.uid] = now
            process.start()
        silent = Misbehaviour.SILENT_ETCD in wish.wrong
        if silent and not process.is_silent:
            process.silence()
        elif process.is_silent and not silent:
            process.wake()

    def _tell(self) -> None:
        forwards = frozenset(
            Forward(
                f"{key.name}.{key.namespace}.svc", ETCD_CLIENT_PORT, "127.0.0.1", self._processes[uid].port
            )
            for uid, key in self._keys.items()
        )
        if forwards != self._told:
            write_forwards(self.forwards_file, forwards)
            self._told = forwards
