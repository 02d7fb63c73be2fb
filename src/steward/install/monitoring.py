"""Alerts and dashboards as objects for a monitoring stack.

The sources are written by hand in `config/monitoring` and `config/prometheus`; the objects are generated from them, so
that each rule exists once. The wheel contains the directory.
"""

from pathlib import Path
from typing import Any, Final

import yaml

from steward.install.network import service_monitor
from steward.install.operators import MULTIGRES, TENANTS, ShippedOperator, labels
from steward.install.pod_monitors import pod_monitors
from steward.install.values import Values
from steward.kube.objects.kinds import Manifest

_PACKAGE_DIRECTORY: Final = Path(__file__).with_name("monitoring_files")
_CHECKOUT_DIRECTORY: Final = Path(__file__).parents[3] / "config" / "monitoring"

RULES: Final = {MULTIGRES: "prometheus-rules.yaml", TENANTS: "tenants-prometheus-rules.yaml"}
DASHBOARDS: Final = {MULTIGRES: "grafana-dashboards.yaml", TENANTS: "tenants-grafana-dashboards.yaml"}


def alerts(operator: ShippedOperator, values: Values) -> Manifest:
    """A PrometheusRule, for the Prometheus operator."""
    manifest = _load_manifest(RULES[operator], values)
    if base := values.monitoring.runbook_base_url:
        for group in manifest["spec"]["groups"]:
            for rule in group["rules"]:
                if annotations := rule.get("annotations"):
                    annotations["runbook_url"] = f"{base.rstrip('/')}/{annotations['runbook_url']}"
    return manifest


def dashboards(operator: ShippedOperator, values: Values) -> Manifest:
    """A ConfigMap, for the sidecar of Grafana."""
    return _load_manifest(DASHBOARDS[operator], values)


def directory() -> Path:
    """The files: in the package if it was installed from a wheel, else in the checkout."""
    return _PACKAGE_DIRECTORY if _PACKAGE_DIRECTORY.is_dir() else _CHECKOUT_DIRECTORY


def _load_manifest(name: str, values: Values) -> Manifest:
    found: Manifest = yaml.load((directory() / name).read_text(), yaml.CSafeLoader)
    return {**found, "metadata": {**found["metadata"], "namespace": values.namespace}}


def generated_files(root: Path) -> dict[str, list[Manifest]]:
    """The generated files of `config/monitoring` by name."""
    return {
        "service-monitor.yaml": [_without_namespace(service_monitor(MULTIGRES, Values()))],
        "pod-monitors.yaml": [_without_namespace(found) for found in pod_monitors(Values())],
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
