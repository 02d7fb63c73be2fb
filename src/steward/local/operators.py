"""What `steward up` runs on top of the control plane: the two operators and a stand-in for the data plane.

They are processes beside the components, found again by their pid files. Each operator runs under its own service
account with the shipped rights. `start` is level-triggered like the control plane's: what runs as it should is left
alone, all else is started anew.
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

from steward.install.operators import SHIPPED, Shipped
from steward.install.values import Values
from steward.kube.client.client import Client
from steward.local import certificates, installation, ports, service_accounts
from steward.local.bootstrap.api import Api
from steward.local.bootstrap.api import connect as connect_directly
from steward.local.certificates import Certificates
from steward.local.control_plane import ControlPlane
from steward.local.errors import ComponentFailed
from steward.local.health import AddressInUse, wait_until_ready
from steward.local.locks import exclusive
from steward.local.processes import Lifetime, Service
from steward.local.progress import Progress
from steward.local.settings import DATA_PLANE, RESIDENTS, Layout
from steward.local.state import replace_file

_STOP_SECONDS = 10.0
_LISTENERS = tuple(f"{operator.name}-{what}" for operator in SHIPPED for what in ("webhooks", "probes"))


@dataclass(frozen=True)
class House:
    """Where the residents live: on which control plane, on which ports."""

    plane: ControlPlane
    ports: Mapping[str, int]

    @property
    def layout(self) -> Layout:
        return Layout(self.plane.directory)

    @property
    def connect_to(self) -> Path:
        return self.layout.operators / DATA_PLANE / "connect-to"

    def kubeconfig(self, operator: Shipped) -> Path:
        return self.layout.operators / f"{operator.word}.kubeconfig"

    def commands(self) -> dict[str, list[str]]:
        return {DATA_PLANE: self._data_plane()} | {each.name: self._operator(each) for each in SHIPPED}

    def _data_plane(self) -> list[str]:
        where = ["--kubeconfig", str(self.plane.kubeconfig), "--directory", str(self.connect_to.parent)]
        return [sys.executable, "-m", "steward.testkit.fake_data_plane", *where]

    def _operator(self, operator: Shipped) -> list[str]:
        return [
            *(sys.executable, "-m", "steward.cli.main", "run", operator.word),
            f"--kubeconfig={self.kubeconfig(operator)}",
            f"--namespace={Values().namespace}",
            f"--connect-to=@{self.connect_to}",
            f"--sqlite-root={self.layout.sample}",
            "--webhooks=on",
            f"--webhook-bind-address=127.0.0.1:{self.ports[f'{operator.name}-webhooks']}",
            f"--webhook-cert-path={self.layout.operators / 'webhook-certificate'}",
            f"--health-probe-bind-address=127.0.0.1:{self.ports[f'{operator.name}-probes']}",
            "--metrics-bind-address=0",
            # Nobody starts it again here: on a machine too busy to renew its lease in time, it waits and leads again.
            "--on-lease-lost=standby",
        ]


async def start(client: Client, plane: ControlPlane, lifetime: Lifetime, progress: Progress) -> None:
    """The operators and the data plane, running, ready, and known to the API server."""
    layout = Layout(plane.directory)
    async with exclusive(layout.lock, lambda pid: progress.report(f"waiting for process {pid}")):
        progress.report("installing the definitions and the operators' rights")
        await installation.install(client)
        house = _remembered(plane)
        if house is None:
            progress.report(f"starting {', '.join(RESIDENTS)}")
            house = await _move_in(plane, lifetime)
        await _until_ready(house)
        for operator in SHIPPED:
            await installation.register(client, plane, operator, house.ports[f"{operator.name}-webhooks"])


def require_running(plane: ControlPlane) -> None:
    """One that has died by itself is told, with the end of its log."""
    for service in Layout(plane.directory).residents():
        if not service.is_running():
            raise ComponentFailed(
                f"{service.name} has ended: run `steward up` again, which starts it; its log ({service.logfile}) ends "
                f"with:\n{service.log_tail()}"
            )


async def stop(plane: ControlPlane) -> bool:
    """End them, and only them; whether any was there."""
    layout = Layout(plane.directory)
    async with exclusive(layout.lock, lambda pid: None):
        were_there = any(service.is_known() for service in layout.residents())
        await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.residents()))
    return were_there


def _remembered(plane: ControlPlane) -> House | None:
    """The house as it runs; None where something of it does not, or runs with other settings."""
    layout = Layout(plane.directory)
    try:
        written = json.loads((layout.operators / "state.json").read_text())
        house = House(plane, {name: int(written["ports"][name]) for name in _LISTENERS})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_whole = all(service.is_running() for service in layout.residents())
    return house if is_whole and written.get("digest") == _digest(house) else None


def _digest(house: House) -> str:
    return hashlib.sha256(json.dumps(house.commands(), sort_keys=True).encode()).hexdigest()


async def _move_in(plane: ControlPlane, lifetime: Lifetime) -> House:
    layout = Layout(plane.directory)
    await asyncio.gather(*(service.stop(_STOP_SECONDS) for service in layout.residents()))
    house = House(plane, dict(zip(_LISTENERS, ports.free_ports(len(_LISTENERS)), strict=True)))
    certificates.ensure_webhooks(Certificates(layout.certificates), layout.operators / "webhook-certificate")
    layout.sample.mkdir(mode=0o700, exist_ok=True)
    house.connect_to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    house.connect_to.touch(mode=0o600)
    async with connect_directly(plane.url, plane.ca_file, plane.client) as api:
        await asyncio.gather(*(_give_identity(api, house, operator) for operator in SHIPPED))
    state = {"ports": dict(house.ports), "digest": _digest(house)}
    replace_file(layout.operators / "state.json", json.dumps(state, indent=2))
    for name, command in house.commands().items():
        layout.service(name).start(command, lifetime)
    return house


async def _give_identity(api: Api, house: House, operator: Shipped) -> None:
    answer = await api.post(service_accounts.token_path(operator), service_accounts.token_request())
    content = service_accounts.kubeconfig(house.plane, operator, answer["status"]["token"])
    replace_file(house.kubeconfig(operator), content)


async def _until_ready(house: House) -> None:
    async with connect_directly(house.plane.url, house.plane.ca_file, house.plane.client) as api:
        try:
            await asyncio.gather(*(_until_answers(api, house, operator) for operator in SHIPPED))
        except AddressInUse as error:
            raise ComponentFailed(str(error)) from None


async def _until_answers(api: Api, house: House, operator: Shipped) -> None:
    service: Service = house.layout.service(operator.name)
    url = f"http://127.0.0.1:{house.ports[f'{operator.name}-probes']}/readyz"
    await wait_until_ready(service, partial(api.answers, url))
