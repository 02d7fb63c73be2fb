"""Alerts and dashboards, as objects that a monitoring stack picks up.

They are written by hand where seeds and dashboards' users look for them, `config/monitoring` and `config/prometheus`;
what a stack loads is made from those, so that no rule stands twice. A wheel carries the directory with it.
"""

from pathlib import Path
from typing import Any, Final

import yaml

from steward.install.network import service_monitor
from steward.install.operators import MULTIGRES, TENANTS, Shipped, labels
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

_SHIPPED_WITH_THE_PACKAGE: Final = Path(__file__).with_name("monitoring_files")
_CHECKOUT: Final = Path(__file__).parents[3] / "config" / "monitoring"

RULES: Final = {MULTIGRES: "prometheus-rules.yaml", TENANTS: "tenants-prometheus-rules.yaml"}
DASHBOARDS: Final = {MULTIGRES: "grafana-dashboards.yaml", TENANTS: "tenants-grafana-dashboards.yaml"}


def alerts(operator: Shipped, values: Values) -> Manifest:
    """A PrometheusRule, for the Prometheus operator."""
    return _placed(RULES[operator], values)


def dashboards(operator: Shipped, values: Values) -> Manifest:
    """A ConfigMap, for the sidecar of Grafana."""
    return _placed(DASHBOARDS[operator], values)


def _placed(name: str, values: Values) -> Manifest:
    directory = _SHIPPED_WITH_THE_PACKAGE if _SHIPPED_WITH_THE_PACKAGE.is_dir() else _CHECKOUT
    found: Manifest = yaml.load((directory / name).read_text(), yaml.CSafeLoader)
    return {**found, "metadata": {**found["metadata"], "namespace": values.namespace}}


def made_files(root: Path) -> dict[str, list[Manifest]]:
    """Those of `config/monitoring` that are made from others, by name."""
    return {
        "service-monitor.yaml": [_without_namespace(service_monitor(MULTIGRES, Values()))],
        "tenants-service-monitor.yaml": [_without_namespace(service_monitor(TENANTS, Values()))],
        RULES[TENANTS]: [_tenant_rules(root / "config/prometheus/alerts.yaml")],
        DASHBOARDS[TENANTS]: [_tenant_dashboards(root / "config/prometheus/grafana-dashboard-tenants.json")],
    }


def _without_namespace(manifest: Manifest) -> Manifest:
    metadata = {name: value for name, value in manifest["metadata"].items() if name != "namespace"}
    return {**manifest, "metadata": metadata}


def _tenant_rules(alerts_file: Path) -> Manifest:
    spec: Any = yaml.load(alerts_file.read_text(), yaml.CSafeLoader)
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": TENANTS.name, "labels": labels(TENANTS)},
        "spec": spec,
    }


def _tenant_dashboards(document: Path) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "tenants-grafana-dashboards",
            "labels": {**labels(TENANTS), "grafana_dashboard": "1"},
        },
        "data": {"tenants.json": document.read_text()},
    }
