"""Alerts, runbooks and dashboards: whole, in step with each other, and about metrics that the operator serves."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from steward.local.control_plane import ControlPlane
from steward.local.programs import binaries
from steward.local.programs.programs import PROMTOOL
from steward.local.progress import SilentProgress
from steward.multigres.objects.shard_shared import EXPORTER_QUERIES
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.scraping import free_port, page
from tests.multigres.support.template_update_scenario import eventually
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml, load_yaml_documents

MONITORING = ROOT / "config" / "monitoring"
ALERT_TESTS = sorted((ROOT / "tests" / "multigres" / "alerts").glob("*.yaml"))
RUNBOOKS = ROOT / "docs" / "monitoring" / "runbooks"
ALERTS = (
    "MultigresClusterReconcileErrors",
    "MultigresClusterDegraded",
    "MultigresCellGatewayUnavailable",
    "MultigresShardPoolDegraded",
    "MultigresWebhookErrors",
    "MultigresShardNotWritable",
    "MultigresPostgresDown",
    "MultigresServerQuarantined",
    "MultigresStandbyNotStreaming",
    "MultigresBackupUnhealthy",
    "MultigresClusterPausedTooLong",
    "MultigresServerUnregistered",
    "MultigresServersUnknown",
    "MultigresReplicationLag",
    "MultigresArchivingFailing",
    "MultigresConnectionsNearLimit",
    "MultigresVolumeFilling",
    "MultigresRepositoryFilling",
    "MultigresLongTransaction",
    "MultigresWraparound",
    "MultigresCertificateExpiring",
    "MultigresGatewayCertificateExpiring",
    "MultigresReconcileSlow",
    "MultigresControllerSaturated",
)
DASHBOARDS = ("operator", "cluster", "postgres")
OF_THE_SEEDS = frozenset(
    f"multigres_{name}"
    for name in (
        "operator_cluster_info",
        "operator_cluster_cells_total",
        "operator_cluster_shards_total",
        "operator_cell_gateway_replicas",
        "operator_shard_pool_replicas",
        "operator_toposerver_replicas",
        "operator_webhook_request_total",
        "operator_webhook_request_duration_seconds",
        "deletion_blocked_total",
        "graceful_shutdown_duration_seconds",
    )
)
METRIC = re.compile(r"\b(?:multigres_|controller_runtime_|workqueue_|rest_client_|process_)[a-z_]+[a-z]\b")
DATA_PLANE_METRIC = re.compile(r"\b(?:pg|mg|kubelet)_[a-z_]+[a-z]\b(?=[^(a-z_])")
# Of the Postgres exporter's own collectors, of Multigres and of kubelets.
FOREIGN_METRICS = frozenset(
    {
        "pg_up",
        "pg_replication_is_replica",
        "pg_replication_lag_seconds",
        "pg_stat_database_xact_commit",
        "pg_stat_database_xact_rollback",
        "mg_gateway_client_connections",
        "mg_gateway_query_duration_seconds_bucket",
        "mg_gateway_query_errors_total",
        "mg_pooler_client_waiting_connections",
        "kubelet_volume_stats_used_bytes",
        "kubelet_volume_stats_capacity_bytes",
    }
)
HISTOGRAM_PARTS = re.compile(r"_(bucket|sum|count)$")


def rules() -> list[dict[str, Any]]:
    document = load_yaml((MONITORING / "prometheus-rules.yaml").read_text())
    return [rule for group in document["spec"]["groups"] for rule in group["rules"]]


def dashboard(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((MONITORING / f"grafana-dashboard-{name}.json").read_text())
    return found


def queries(board: dict[str, Any]) -> Iterator[str]:
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def metrics_in(text: str) -> set[str]:
    return {HISTOGRAM_PARTS.sub("", name) for name in METRIC.findall(text)}


def _data_plane(text: str) -> set[str]:
    return set(DATA_PLANE_METRIC.findall(f"{text} "))


@pytest.fixture(scope="session")
def promtool() -> Path:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(binaries.ensure([PROMTOOL], SilentProgress()))["promtool"]
    finally:
        loop.close()


@pytest.fixture
def rule_file(tmp_path: Path) -> Path:
    """The groups as Prometheus itself reads them, without the Kubernetes object around them."""
    document = load_yaml((MONITORING / "prometheus-rules.yaml").read_text())
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": document["spec"]["groups"]}))
    return path


def test_the_alerts_are_those_of_the_table() -> None:
    assert tuple(rule["alert"] for rule in rules()) == ALERTS


@pytest.mark.parametrize("rule", rules(), ids=ALERTS)
def test_an_alert_names_its_severity_and_a_runbook_that_is_there(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert rule["annotations"]["runbook_url"] == f"docs/monitoring/runbooks/{rule['alert']}.md"
    assert (ROOT / rule["annotations"]["runbook_url"]).is_file()
    assert rule["for"] in ("2m", "5m", "10m")


@pytest.mark.parametrize("alert", ALERTS)
def test_a_runbook_has_its_four_parts_and_names_a_metric_of_its_rule(alert: str) -> None:
    text = (RUNBOOKS / f"{alert}.md").read_text()
    assert text.startswith(f"# {alert}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Meaning",
        "Impact",
        "Investigation",
        "Remediation",
    ]
    [expression] = [rule["expr"] for rule in rules() if rule["alert"] == alert]
    assert (metrics_in(expression) & metrics_in(text)) or _data_plane(expression) & _data_plane(text)


def test_there_is_no_runbook_without_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == set(ALERTS)


def test_promtool_is_of_the_version_that_the_table_of_programs_says() -> None:
    module = (PROMTOOL.source / "go.mod").read_text()
    assert f"github.com/prometheus/prometheus v{PROMTOOL.version}" in module


def test_promtool_accepts_the_rules(promtool: Path, rule_file: Path) -> None:
    done = subprocess.run(
        [promtool, "check", "rules", rule_file], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(ALERTS)} rules found" in done.stdout


@pytest.mark.parametrize("cases", ALERT_TESTS, ids=lambda file: file.stem)
def test_alerts_fire_when_they_should_and_only_then(promtool: Path, rule_file: Path, cases: Path) -> None:
    shutil.copy(cases, rule_file.parent / cases.name)
    command = [str(promtool), "test", "rules", str(rule_file.parent / cases.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case_in_which_it_fires() -> None:
    fired = {
        check["alertname"]
        for file in ALERT_TESTS
        for case in load_yaml(file.read_text())["tests"]
        for check in case["alert_rule_test"]
        if check["exp_alerts"]
    }
    assert fired == set(ALERTS)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_has_queries_that_promtool_can_read(promtool: Path, name: str) -> None:
    board = dashboard(name)
    assert board["title"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    groups = [
        {
            "name": name,
            "rules": [
                {"record": f"query:{number}", "expr": query} for number, query in enumerate(queries(board))
            ],
        }
    ]
    done = subprocess.run(
        [promtool, "check", "rules"],
        input=yaml.safe_dump({"groups": groups}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sidecars_config_map_holds_the_dashboards_word_for_word() -> None:
    found = load_yaml((MONITORING / "grafana-dashboards.yaml").read_text())
    assert found["kind"] == "ConfigMap"
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    files = {
        f"multigres-{name}.json": (MONITORING / f"grafana-dashboard-{name}.json").read_text()
        for name in DASHBOARDS
    }
    assert found["data"] == files


def test_figures_of_the_data_plane_are_served_by_an_exporter() -> None:
    queries_of_exporter = load_yaml(EXPORTER_QUERIES)
    own = {
        f"{name}_{column}"
        for name, query in queries_of_exporter.items()
        for metric in query["metrics"]
        for column in metric
    }
    texts = [rule["expr"] for rule in rules()] + list(queries(dashboard("postgres")))
    assert set().union(*map(_data_plane, texts)) <= own | FOREIGN_METRICS
    assert own <= set().union(*map(_data_plane, texts))


def all_named() -> set[str]:
    runbooks = [path.read_text() for path in (ROOT / "docs" / "monitoring" / "runbooks").glob("*.md")]
    alerts = [rule["expr"] for rule in rules()]
    panels = [query for name in DASHBOARDS for query in queries(dashboard(name))]
    table = (ROOT / "docs" / "monitoring" / "README.md").read_text()
    return set().union(*(metrics_in(text) for text in (*runbooks, *alerts, *panels, table)))


def test_every_metric_that_is_named_anywhere_is_served_by_the_running_operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{free_port()}"
    settings = {"metrics_bind_address": address, "metrics_secure": "false"}
    log = tmp_path / "operator.log"
    with operator_with_webhooks(control_plane, kubectl, namespace, log, **settings):
        shown = eventually(lambda: page(address), "metrics")
    served = set(re.findall(r"^# TYPE (\S+) ", shown, re.MULTILINE))
    assert all_named() | OF_THE_SEEDS <= served


def test_the_kustomization_is_whole_and_the_scrape_keeps_the_namespace_of_the_metrics() -> None:
    kustomization = load_yaml((MONITORING / "kustomization.yaml").read_text())
    manifests = {path.name for path in MONITORING.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == manifests
    monitor = load_yaml((MONITORING / "service-monitor.yaml").read_text())
    assert [endpoint["honorLabels"] for endpoint in monitor["spec"]["endpoints"]] == [True]
    assert (
        monitor["spec"]["selector"]["matchLabels"].items() <= _metrics_service()["metadata"]["labels"].items()
    )


def _metrics_service() -> dict[str, Any]:
    documents = load_yaml_documents((ROOT / "config" / "manager" / "multigres.yaml").read_text())
    [service] = [
        found
        for found in documents
        if found["kind"] == "Service" and any(port["name"] == "metrics" for port in found["spec"]["ports"])
    ]
    return dict(service)
