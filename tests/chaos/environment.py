"""What all lives of a run share: a control plane, the fake data plane, the operators' identities, and databases."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from steward.install.operators import MULTIGRES, TENANTS, ShippedOperator
from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from steward.local.processes import Lifetime
from steward.local.progress import SilentProgress
from steward.local.settings import ControlPlaneSettings
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANTS_KINDS
from steward.testkit import AuditLog
from steward.testkit.fake_data_plane import FakeDataPlane, FakeDataPlaneSettings, Timing
from tests.support import definitions
from tests.support.api_server import ApiServer
from tests.support.database_servers import DatabaseServer, mariadb_server, postgres_server
from tests.support.identities import operator_kubeconfig, operator_token
from tests.support.kubectl import Kubectl

DATA_PLANE_TIMING = Timing(start=0.3, stream=0.2, failover=0.5, switch=0.3)
OPERATORS: dict[str, ShippedOperator] = {"multigres": MULTIGRES, "tenants": TENANTS}


@dataclass
class Environment:
    plane: ControlPlane
    directory: Path
    server: ApiServer
    audit: AuditLog
    data_plane: FakeDataPlane
    kubectl: Kubectl
    _stack: AsyncExitStack
    kept: set[Path] = field(default_factory=set)
    """Directories with the logs of failed lives, which stay after the run."""
    quiet_seconds: float = 150.0
    """How long a life may converge after its last fault; the limit is for a broken operator, not for a slow machine."""
    _tokens: dict[str, str] = field(default_factory=dict)
    _databases: dict[str, DatabaseServer] = field(default_factory=dict)
    _gate: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def token(self, word: str) -> str:
        """A token of the operator's service account, with the shipped permissions."""
        async with self._gate:
            if word not in self._tokens:
                self._tokens[word] = await asyncio.to_thread(self._make_token, OPERATORS[word])
            return self._tokens[word]

    async def database(self, kind: str) -> DatabaseServer:
        """A real server, started for the first life that needs it."""
        async with self._gate:
            if kind not in self._databases:
                started = postgres_server() if kind == "postgres" else mariadb_server()
                self._databases[kind] = await asyncio.to_thread(started.__enter__)
                self._stack.callback(started.__exit__, None, None, None)
            return self._databases[kind]

    def _make_token(self, operator: ShippedOperator) -> str:
        operator_kubeconfig(operator, self.plane)
        return operator_token(operator, self.kubectl)


@asynccontextmanager
async def open_environment(plane_directory: Path | None = None) -> AsyncIterator[Environment]:
    """Start everything, or use the control plane that runs in `plane_directory`; end what was started here."""
    async with AsyncExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="steward-chaos-"))
        kept: set[Path] = set()
        stack.callback(_remove, directory, kept)
        plane = local.find(plane_directory) if plane_directory else await _start(directory / "plane", stack)
        kubectl = Kubectl(plane.kubeconfig)
        kinds = (*MULTIGRES_KINDS, *TENANTS_KINDS)
        await asyncio.to_thread(definitions.install_crds, plane, kubectl, kinds)
        settings = FakeDataPlaneSettings(plane.kubeconfig, directory / "data-plane", timing=DATA_PLANE_TIMING)
        data_plane = await stack.enter_async_context(FakeDataPlane(settings))
        audit = AuditLog(plane.audit_log, plane.kubeconfig)
        server = ApiServer(plane.kubeconfig)
        yield Environment(plane, directory, server, audit, data_plane, kubectl, stack, kept)


def _remove(directory: Path, kept: set[Path]) -> None:
    for path in directory.iterdir():
        if path not in kept:
            shutil.rmtree(path, ignore_errors=True)
    if not kept:
        directory.rmdir()


async def _start(directory: Path, stack: AsyncExitStack) -> ControlPlane:
    settings = ControlPlaneSettings(directory, lifetime=Lifetime.PARENT)
    plane = await local.start(settings, SilentProgress())
    stack.push_async_callback(local.stop, directory)
    return plane
