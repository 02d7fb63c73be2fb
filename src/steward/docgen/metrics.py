"""The metrics as a document: every family that an operator registers when it is set up as `steward run` does.

Nothing is left out by hand: the operators are really set up, on a connection that is never used. What a family is
called is what a scrape shows.
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

_NOWHERE = """\
apiVersion: v1
kind: Config
current-context: nowhere
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody, namespace: steward-system}}]
clusters: [{name: nowhere, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: nobody, user: {}}]
"""
_ENDINGS = {"counter": "_total"}


class Family(NamedTuple):
    name: str
    type: str
    labels: tuple[str, ...]
    help: str


class Listed(CollectorRegistry):
    """A registry that can say what was registered, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        super().register(collector)
        self.collectors.append(collector)


def document() -> str:
    engine = _registered(lambda manager, settings: None)
    sections = [_section("Of every operator", engine)]
    for title, set_up in (("Of multigres", set_up_multigres), ("Of tenants", set_up_tenants)):
        own = [family for family in _registered(set_up) if family not in engine]
        sections.append(_section(title, own))
    return "# Metrics\n\n" + "\n".join(sections)


def _section(title: str, families: list[Family]) -> str:
    rows = [
        f"| `{family.name}` | {family.type} | {', '.join(family.labels)} | {family.help} |"
        for family in sorted(families)
    ]
    return f"## {title}\n\n| Metric | Type | Labels | |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"


def _registered(set_up: SetUp) -> list[Family]:
    # Not asyncio.run, which takes away the loop that whoever calls this may have set.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_families(set_up))
    finally:
        loop.close()


async def _families(set_up: SetUp) -> list[Family]:
    with tempfile.TemporaryDirectory() as directory:
        kubeconfig = Path(directory) / "kubeconfig"
        kubeconfig.write_text(_NOWHERE)
        settings = replace(Settings(), kubeconfig=str(kubeconfig), webhooks="on")
        opened = await open_connection(settings, identity("steward", {}), {})
    registry = Listed()
    connection = with_changes(opened, metrics=Metrics(registry))
    set_up(Manager(connection, settings), settings)
    await opened.close()
    return [family for collector in registry.collectors for family in _told(collector)]


def _told(collector: Collector) -> Iterator[Family]:
    for metric in collector.collect():
        # Names of labels are no part of a metric's public face until it has a sample.
        labels: tuple[str, ...] = tuple(getattr(metric, "_labelnames", getattr(collector, "_labelnames", ())))
        labels = labels or _labels_of_samples(metric)
        name = metric.name + _ENDINGS.get(metric.type, "")
        yield Family(name, metric.type, labels, metric.documentation)


def _labels_of_samples(metric: Metric) -> tuple[str, ...]:
    return tuple(metric.samples[0].labels) if metric.samples else ()
