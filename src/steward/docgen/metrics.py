"""Generates the metrics reference: every metric family that an operator registers.

The operators are set up as by `steward run`, on a connection that is never used, so that no family is missing. Names
are those of a scrape.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace as with_changes
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from steward.multigres.operator import set_up as set_up_multigres
from steward.runtime.manager.clients import open_connection
from steward.runtime.manager.identity import identity
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.run import SetUp
from steward.runtime.manager.settings import Settings
from steward.runtime.observability.metrics import Metrics
from steward.tenants.operator import set_up as set_up_tenants

_UNREACHABLE_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody, namespace: steward-system}}]
clusters: [{name: nowhere, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: nobody, user: {}}]
"""
_NAME_SUFFIXES = {"counter": "_total"}


class Family(NamedTuple):
    name: str
    type: str
    labels: tuple[str, ...]
    help: str


class RecordingRegistry(CollectorRegistry):
    """A registry that records its collectors in order."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        super().register(collector)
        self.collectors.append(collector)


def metrics_page() -> str:
    engine = _registered_families(lambda manager, settings: None)
    sections = [_section("Both operators", engine)]
    for title, set_up in (("multigres", set_up_multigres), ("tenants", set_up_tenants)):
        families = [family for family in _registered_families(set_up) if family not in engine]
        sections.append(_section(title, families))
    return "# Metrics\n\n" + "\n".join(sections)


def _section(title: str, families: list[Family]) -> str:
    rows = [
        f"| `{family.name}` | {family.type} | {', '.join(family.labels)} | {family.help} |"
        for family in sorted(families)
    ]
    return f"## {title}\n\n| Metric | Type | Labels | |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _registered_families(set_up: SetUp) -> list[Family]:
    # Not asyncio.run: it would unset the event loop of the caller.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_collect_families(set_up))
    finally:
        loop.close()


async def _collect_families(set_up: SetUp) -> list[Family]:
    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = Path(directory) / "kubeconfig"
        kubeconfig.write_text(_UNREACHABLE_KUBECONFIG)
        settings = replace(Settings(), kubeconfig=str(kubeconfig), webhooks="on")
        opened = await open_connection(settings, identity("steward", {}), {})
    registry = RecordingRegistry()
    connection = with_changes(opened, metrics=Metrics(registry))
    set_up(Manager(connection, settings), settings)
    await opened.close()
    return [family for collector in registry.collectors for family in _collector_families(collector)]


def _collector_families(collector: Collector) -> Iterator[Family]:
    for metric in collector.collect():
        # Without a sample, label names are only in private attributes.
        labels: tuple[str, ...] = tuple(getattr(metric, "_labelnames", getattr(collector, "_labelnames", ())))
        labels = labels or _labels_of_samples(metric)
        name = metric.name + _NAME_SUFFIXES.get(metric.type, "")
        yield Family(name, metric.type, labels, metric.documentation)


def _labels_of_samples(metric: Metric) -> tuple[str, ...]:
    return tuple(metric.samples[0].labels) if metric.samples else ()
