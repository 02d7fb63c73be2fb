"""Runs the two operators and the fake data plane on a local control plane, for `steward up`.

They are processes like the components, found again by their pid files. Each operator runs under its own service
account with the shipped permissions. On a cluster with containers there is no fake data plane, and the operators use
the cluster's DNS. `start` is level-triggered like that of the control plane: processes that run with the current
settings are kept, otherwise all are restarted.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.values import Values
from steward.kube.client.client import Client
from steward.local import certificates, installation, ports, service_accounts, state
from steward.local.bootstrap.api import BootstrapClient
from steward.local.bootstrap.api import connect as connect_directly
from steward.local.certificates import Certificates
from steward.local.containers.namespaces import cluster_resolver, in_mount_namespace
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed
from steward.local.health import AddressInUse, wait_until_ready
from steward.local.locks import exclusive
from steward.local.processes import Lifetime, Service
from steward.local.progress import Progress
from steward.local.settings import DATA_PLANE, OPERATOR_SERVICES, Layout
from steward.local.state import replace_file

_STOP_SECONDS = 10.0
_LISTENERS = tuple(f"{operator.name}-{what}" for operator in OPERATORS for what in ("webhooks", "probes"))


@dataclass(frozen=True)
class OperatorProcesses:
    """Command lines, ports and files of the operators and the fake data plane on one control plane."""

    plane: ControlPlane
    ports: Mapping[str, int]
    has_containers: bool = False

    @property
    def layout(self) -> Layout:
        return Layout(self.plane.directory)

    @property
    def connect_to(self) -> Path:
        return self.layout.operators / DATA_PLANE / "connect-to"

    def kubeconfig(self, operator: ShippedOperator) -> Path:
        return self.layout.operators / f"{operator.short_name}.kubeconfig"

    def commands(self) -> dict[str, list[str]]:
        operators = {each.name: self._operator(each) for each in OPERATORS}
        if not self.has_containers:
            return {DATA_PLANE: self._data_plane()} | operators
        prefix = in_mount_namespace(cluster_resolver(self.layout))
        return {name: [*prefix, *command] for name, command in operators.items()}

    def services(self) -> list[Service]:
        return [self.layout.service(name) for name in service_names(self.plane)]

    def _data_plane(self) -> list[str]:
        where = ["--kubeconfig", str(self.plane.kubeconfig), "--directory", str(self.connect_to.parent)]
        return [sys.executable, "-m", "steward.testkit.fake_data_plane", *where]

    def _operator(self, operator: ShippedOperator) -> list[str]:
        return [
            *(sys.executable, "-m", "steward.cli.main", "run", operator.short_name),
            f"--kubeconfig={self.kubeconfig(operator)}",
            f"--namespace={Values().namespace}",
            *([] if self.has_containers else [f"--connect-to=@{self.connect_to}"]),
            f"--sqlite-root={self.layout.sample}",
            "--webhooks=on",
            f"--webhook-bind-address=127.0.0.1:{self.ports[f'{operator.name}-webhooks']}",
            f"--webhook-cert-path={self.layout.operators / 'webhook-certificate'}",
            f"--health-probe-bind-address=127.0.0.1:{self.ports[f'{operator.name}-probes']}",
            "--metrics-bind-address=0",
            # Nothing restarts the process here: an operator that loses its lease on a busy machine stands by.
            "--on-lease-lost=standby",
        ]


def has_containers(plane: ControlPlane) -> bool:
    return bool(state.read(Layout(plane.directory).state).pod_subnet)


def service_names(plane: ControlPlane) -> tuple[str, ...]:
    """What runs on top of this control plane."""
    return tuple(name for name in OPERATOR_SERVICES if name != DATA_PLANE or not has_containers(plane))


async def start(client: Client, plane: ControlPlane, lifetime: Lifetime, progress: Progress) -> None:
    """Start the operators and, without containers, the fake data plane; wait for them and register the webhooks."""
    layout = Layout(plane.directory)
    async with exclusive(layout.lock, lambda pid: progress.report(f"waiting for process {pid}")):
        progress.report("installing CRDs and the operators' permissions")
        await installation.install(client)
        processes = _find_running(plane)
        if processes is None:
            progress.report(f"starting {', '.join(service_names(plane))}")
            processes = await _start_processes(plane, lifetime)
        await _wait_until_ready(processes)
        for operator in OPERATORS:
            await installation.register_webhooks(
                client, plane, operator, processes.ports[f"{operator.name}-webhooks"]
            )


def require_running(plane: ControlPlane) -> None:
    """Raise ComponentFailed, with the end of its log, for a process that has died."""
    layout = Layout(plane.directory)
    for service in map(layout.service, service_names(plane)):
        if not service.is_running():
            raise ComponentFailed(
                f"{service.name} has ended: run `steward up` again, which starts it; its log ({service.logfile}) ends "
                f"with:\n{service.log_tail()}"
            )


async def stop(plane: ControlPlane) -> bool:
    """Stop the operators and the fake data plane, not the control plane; return whether any had been started."""
    layout = Layout(plane.directory)
    async with exclusive(layout.lock, lambda pid: None):
        had_started = any(service.has_pidfile() for service in layout.operator_services())
        await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.operator_services()))
    return had_started


def _find_running(plane: ControlPlane) -> OperatorProcesses | None:
    """The running processes; None if one of them is not running or runs with other settings."""
    layout = Layout(plane.directory)
    try:
        written = json.loads((layout.operators / "state.json").read_text())
        known = {name: int(written["ports"][name]) for name in _LISTENERS}
        processes = OperatorProcesses(plane, known, has_containers(plane))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    are_running = all(service.is_running() for service in processes.services())
    return processes if are_running and written.get("digest") == _digest(processes) else None


def _digest(processes: OperatorProcesses) -> str:
    return hashlib.sha256(json.dumps(processes.commands(), sort_keys=True).encode()).hexdigest()


async def _start_processes(plane: ControlPlane, lifetime: Lifetime) -> OperatorProcesses:
    layout = Layout(plane.directory)
    await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.operator_services()))
    chosen = dict(zip(_LISTENERS, ports.free_ports(len(_LISTENERS)), strict=True))
    processes = OperatorProcesses(plane, chosen, has_containers(plane))
    certificates.ensure_webhooks(Certificates(layout.certificates), layout.operators / "webhook-certificate")
    layout.sample.mkdir(mode=0o700, exist_ok=True)
    processes.connect_to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    processes.connect_to.touch(mode=0o600)
    async with connect_directly(plane.url, plane.ca_file, plane.client) as api:
        await asyncio.gather(*(_write_kubeconfig(api, processes, operator) for operator in OPERATORS))
    written = {"ports": dict(processes.ports), "digest": _digest(processes)}
    replace_file(layout.operators / "state.json", json.dumps(written, indent=2))
    for name, command in processes.commands().items():
        layout.service(name).start(command, lifetime)
    return processes


async def _write_kubeconfig(
    api: BootstrapClient, processes: OperatorProcesses, operator: ShippedOperator
) -> None:
    answer = await api.post(service_accounts.token_path(operator), service_accounts.token_request())
    content = service_accounts.kubeconfig(processes.plane, operator, answer["status"]["token"])
    replace_file(processes.kubeconfig(operator), content)


async def _wait_until_ready(processes: OperatorProcesses) -> None:
    async with connect_directly(processes.plane.url, processes.plane.ca_file, processes.plane.client) as api:
        try:
            await asyncio.gather(*(_wait_for_readyz(api, processes, operator) for operator in OPERATORS))
        except AddressInUse as error:
            raise ComponentFailed(str(error)) from None


async def _wait_for_readyz(
    api: BootstrapClient, processes: OperatorProcesses, operator: ShippedOperator
) -> None:
    service: Service = processes.layout.service(operator.name)
    url = f"http://127.0.0.1:{processes.ports[f'{operator.name}-probes']}/readyz"
    await wait_until_ready(service, partial(api.is_healthy, url))
