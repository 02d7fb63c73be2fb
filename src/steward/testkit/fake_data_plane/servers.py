"""Runs one etcd for each TopoServer with a quorum of ready pods, and writes the addresses of all services to a file.

Level-triggered: `reconcile` compares the desired servers with the running processes, so an etcd that died is started
like a new one. The file is in the form of `--connect-to @FILE`.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import ssl
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

from steward.etcd.client import Endpoints, EtcdClient
from steward.kube.clock import Clock
from steward.kube.objects.kinds import Key
from steward.multigres.resolution.defaults import ETCD_CLIENT_PORT
from steward.runtime.manager.connect_to import Forward, ForwardFile, Redirect, write_forwards
from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.listener import HOST, bind_port
from steward.testkit.fake_data_plane.memory_etcd import DirectEtcdClient, MemoryEtcd

log = logging.getLogger(__name__)

RESTART_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0


class EtcdServer(Protocol):
    """A server that keeps its port and its data while it is stopped."""

    is_paused: bool

    @property
    def port(self) -> int: ...

    def is_running(self) -> bool: ...

    async def start(self) -> None: ...

    async def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def stop(self) -> None: ...

    async def remove(self) -> None:
        """Stop it and delete its data."""

    def log_tail(self) -> str: ...


class ExternalEtcd(NamedTuple):
    """etcd servers that the clusters name themselves: how to reach them, and the certificates of the programs."""

    forwards: tuple[Forward, ...] = ()
    tls: ssl.SSLContext | None = None


NO_EXTERNAL = ExternalEtcd()
CreateServer = Callable[[Path], EtcdServer]
"""Makes the server that keeps its data in this directory."""


class DesiredServer(NamedTuple):
    """A TopoServer; `has_quorum` if most of its pods are ready."""

    key: Key
    uid: str
    has_quorum: bool
    faults: DataPlaneFaults = NO_FAULTS


class TopologyServers:
    def __init__(
        self, create: CreateServer, directory: Path, clock: Clock, external: ExternalEtcd = NO_EXTERNAL
    ) -> None:
        self._create = create
        self._external = external
        self._directory = directory
        self._clock = clock
        self._processes: dict[str, EtcdServer] = {}
        self._keys: dict[str, Key] = {}
        self._uids: dict[tuple[str, ...], str] = {}
        self._started: dict[str, float] = {}
        self._written_forwards: frozenset[Forward] | None = None
        self._refusing = bind_port()
        self._redirect = Redirect((ForwardFile(self.forwards_file), *external.forwards))

    @property
    def forwards_file(self) -> Path:
        return self._directory / "connect-to"

    def connect(self, addresses: tuple[str, ...]) -> EtcdClient:
        """A client of the servers with these addresses in the cluster."""
        server = self._processes.get(self._uids.get(addresses, ""))
        if isinstance(server, MemoryEtcd) and server.is_running() and not server.is_paused:
            return DirectEtcdClient(server.store)
        return EtcdClient(Endpoints(addresses, self._external.tls, self._redirect, TIMEOUT_SECONDS))

    def find_process(self, key: Key) -> EtcdServer | None:
        """The etcd of this TopoServer, running or not."""
        return next((self._processes[uid] for uid, known in self._keys.items() if known == key), None)

    async def reconcile(
        self, servers: Iterable[DesiredServer], other_services: Collection[Forward] = ()
    ) -> None:
        """Start and stop servers; `other_services` are added to the file."""
        desired = {server.uid: server for server in servers}
        await asyncio.gather(*(self._remove(uid) for uid in set(self._processes) - set(desired)))
        # One after the other, without a task for each: most of them need nothing.
        for server in desired.values():
            await self._reconcile_server(server)
        waiting = [server.key for uid, server in desired.items() if uid not in self._processes]
        self._write_forwards(other_services, waiting)

    def remove_stale_data(self, desired: set[str]) -> None:
        """Delete the data of TopoServers that were deleted while this process was not running."""
        for entry in self._data().glob("*"):
            if entry.name not in desired:
                shutil.rmtree(entry, ignore_errors=True)

    async def stop(self) -> None:
        """Stop every etcd and keep their data."""
        self._refusing.close()
        await asyncio.gather(*(process.stop() for process in self._processes.values()))

    def _data(self) -> Path:
        return self._directory / "etcd"

    async def _remove(self, uid: str) -> None:
        process = self._processes.pop(uid)
        addresses = _addresses(self._keys.pop(uid))
        # A later server of the same name may have been started already.
        if self._uids.get(addresses) == uid:
            del self._uids[addresses]
        self._started.pop(uid, None)
        await process.remove()

    async def _reconcile_server(self, server: DesiredServer) -> None:
        process = self._processes.get(server.uid)
        if not server.has_quorum or DataPlaneFault.DEAD_ETCD in server.faults:
            if process is not None and process.is_running():
                self._started.pop(server.uid, None)
                await process.stop()
            return
        if process is None:
            process = self._processes[server.uid] = self._create(self._data() / server.uid)
            self._keys[server.uid] = server.key
            self._uids[_addresses(server.key)] = server.uid
        await self._ensure_running(process, server)

    async def _ensure_running(self, process: EtcdServer, server: DesiredServer) -> None:
        if not process.is_running():
            now = self._clock.monotonic()
            if now - self._started.get(server.uid, -RESTART_SECONDS) < RESTART_SECONDS:
                return
            if server.uid in self._started:
                log.warning(
                    "restarting the etcd of %s; its log ends with: %s", server.key, process.log_tail()
                )
            self._started[server.uid] = now
            await process.start()
        is_silenced = DataPlaneFault.SILENT_ETCD in server.faults
        if is_silenced and not process.is_paused:
            await process.pause()
        elif process.is_paused and not is_silenced:
            process.resume()

    def _write_forwards(self, other_services: Collection[Forward], waiting: Collection[Key]) -> None:
        """Servers that have not started yet refuse connections: their unknown names would be looked up in the DNS, and
        a resolver takes 5 s if one of its packets is lost."""
        refusing = self._refusing.getsockname()[1]
        running = {key: self._processes[uid].port for uid, key in self._keys.items()}
        ports = {**dict.fromkeys(waiting, refusing), **running}
        services = frozenset(_forward(key, port) for key, port in ports.items())
        forwards = frozenset((*other_services, *self._external.forwards)) | services
        if forwards != self._written_forwards:
            write_forwards(self.forwards_file, forwards)
            self._written_forwards = forwards


def _addresses(server: Key) -> tuple[str, ...]:
    """As the programs of a cluster name it."""
    return (f"{server.name}.{server.namespace}.svc:{ETCD_CLIENT_PORT}",)


def _forward(server: Key, port: int) -> Forward:
    return Forward(f"{server.name}.{server.namespace}.svc", ETCD_CLIENT_PORT, HOST, port)
