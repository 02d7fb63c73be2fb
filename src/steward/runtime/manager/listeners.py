"""Which pages this process serves on which address, as the settings say."""

from __future__ import annotations

from pathlib import Path

from steward.kube.clock import Clock
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.settings import Settings
from steward.runtime.observability.http_server import (
    CertificateFiles,
    Server,
    Tls,
    parse_address,
    self_signed_tls,
)
from steward.runtime.observability.metrics_server import Gate, guarded_server, open_server
from steward.runtime.observability.probes import Probes


def probes_listener(settings: Settings, probes: Probes) -> Server | None:
    address = parse_address(settings.health_probe_bind_address)
    return None if address is None else Server(address, probes.pages())


def metrics_listener(settings: Settings, connection: Connection) -> Server | None:
    address = parse_address(settings.metrics_bind_address)
    if address is None:
        return None
    registry = connection.metrics.registry
    if not settings.metrics_secure:
        return open_server(address, registry)
    gate = Gate(connection.replica_client, connection.clock)
    return guarded_server(address, registry, gate, _tls(settings, connection.clock))


def _tls(settings: Settings, clock: Clock) -> Tls:
    if not settings.metrics_cert_path:
        return self_signed_tls(clock)
    directory = Path(settings.metrics_cert_path)
    return Tls(
        CertificateFiles(directory / settings.metrics_cert_name, directory / settings.metrics_cert_key), clock
    )
