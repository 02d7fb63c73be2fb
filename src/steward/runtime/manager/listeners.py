"""The HTTP servers of a process: probes and metrics, as configured."""

from __future__ import annotations

from pathlib import Path

from steward.kube.clock import Clock
from steward.runtime.manager.clients import Connection
from steward.runtime.manager.settings import Settings
from steward.runtime.observability.http_server import (
    CertificateFiles,
    HttpServer,
    ReloadingTls,
    parse_address,
    self_signed_tls,
)
from steward.runtime.observability.metrics_server import MetricsAuthorizer, authorized_server, plain_server
from steward.runtime.observability.probes import Probes


def probes_listener(settings: Settings, probes: Probes) -> HttpServer | None:
    address = parse_address(settings.health_probe_bind_address)
    return None if address is None else HttpServer(address, probes.pages())


def metrics_listener(settings: Settings, connection: Connection) -> HttpServer | None:
    address = parse_address(settings.metrics_bind_address)
    if address is None:
        return None
    registry = connection.metrics.registry
    if not settings.metrics_secure:
        return plain_server(address, registry)
    authorizer = MetricsAuthorizer(connection.replica_client, connection.clock)
    return authorized_server(address, registry, authorizer, _tls(settings, connection.clock))


def _tls(settings: Settings, clock: Clock) -> ReloadingTls:
    if not settings.metrics_cert_path:
        return self_signed_tls(clock)
    directory = Path(settings.metrics_cert_path)
    return ReloadingTls(
        CertificateFiles(directory / settings.metrics_cert_name, directory / settings.metrics_cert_key), clock
    )
