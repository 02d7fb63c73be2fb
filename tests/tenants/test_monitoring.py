"""Alerts, runbooks and the dashboard are complete, consistent, and use metrics that the operator serves."""

import asyncio
import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.ports import free_ports
from steward.local.programs import binaries
from steward.local.programs.programs import PROMTOOL
from steward.local.progress import SilentProgress
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml
from tests.tenants.support.fleet import Fleet, config_map, resource
from tests.tenants.support.manifests import registry
from tests.tenants.support.operator import running_operator

ALERTS = ROOT / "config" / "prometheus" / "alerts.yaml"
ALERT_TESTS = sorted((ROOT / "tests" / "tenants" / "alerts").glob("*.yaml"))
DASHBOARD = ROOT / "config" / "prometheus" / "grafana-dashboard-tenants.json"
RUNBOOKS = ROOT / "docs" / "monitoring" / "tenants"
METRIC = re.compile(
    r"\b(?:tenant_|registry_|template_|apply_|deletion_|workqueue_|rest_client_)[a-z_]+[a-z]\b"
)
PARTS = re.compile(r"_(bucket|sum|count)$")
GAUGE = re.compile(
    r"\b(?:tenant_(?:resources|condition|degraded)|registry|template|deletion|workqueue)_[a-z_]+"
)
OF_ONE_REPLICA = re.compile(r"max by \([a-z, ]+\) \($")
LABELS = {"tenant_namespace", "registry_id"}


def rules() -> list[dict[str, Any]]:
    document = load_yaml(ALERTS.read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def names() -> list[str]:
    return [rule["alert"] for rule in rules()]


def metrics_in(text: str) -> set[str]:
    return {PARTS.sub("", name) for name in METRIC.findall(text)} - LABELS


def queries() -> Iterator[str]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.fixture(scope="module")
def promtool() -> Path:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(binaries.ensure([PROMTOOL], SilentProgress()))["promtool"]
    finally:
        loop.close()


def run(*command: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_prometheus_accepts_the_rules(promtool: Path) -> None:
    assert f"{len(rules())} rules found" in run(promtool, "check", "rules", ALERTS)


@pytest.mark.parametrize("file", ALERT_TESTS, ids=lambda file: file.stem)
def test_alerts_fire_when_they_should_and_not_before(promtool: Path, file: Path) -> None:
    assert "SUCCESS" in run(promtool, "test", "rules", file)


def test_every_alert_has_a_test() -> None:
    fired = {
        each["alertname"]
        for file in ALERT_TESTS
        for test in load_yaml(file.read_text())["tests"]
        for each in test["alert_rule_test"]
        if each["exp_alerts"]
    }
    assert fired == set(names())


@pytest.mark.parametrize("rule", rules(), ids=names())
def test_an_alert_has_a_severity_and_a_runbook(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    text = (ROOT / rule["annotations"]["runbook_url"]).read_text()
    assert text.startswith(f"# {rule['alert']}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "Meaning",
        "Impact",
        "Investigation",
        "Remediation",
    ]
    assert metrics_in(rule["expr"]) & metrics_in(text)


def test_there_is_no_runbook_without_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == set(names())


@pytest.mark.parametrize("query", sorted({query for query in queries() if GAUGE.search(query)}))
def test_metrics_of_several_replicas_are_aggregated(query: str) -> None:
    for found in GAUGE.finditer(query):
        assert OF_ONE_REPLICA.search(query[: found.start()]), found[0]


def test_the_running_operator_serves_every_metric_that_is_used(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    settings = {"metrics_bind_address": f"127.0.0.1:{port}", "metrics_secure": "false"}
    with running_operator(control_plane, namespace, tmp_path / "operator.log", **settings):
        fleet = Fleet(kubectl, namespace)
        fleet.apply(registry())
        fleet.apply(config_map("taken"))
        fleet.tenant(configMaps=[resource("taken", config_map("taken"))])
        fleet.until_reason("Conflicted", "ResourceConflict")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            page = answer.read().decode()
        fleet.kubectl("delete", "tenants,tenantregistries", "--all", "-n", namespace)
    # A family without a series, such as of a rollout that is not in progress, has only its type.
    served = metrics_in("\n".join(re.findall(r"^(?:# TYPE )?([a-z_]+)[{ ]", page, re.MULTILINE)))
    named = metrics_in("\n".join([*queries(), *(rule["expr"] for rule in rules())]))
    assert named
    assert named <= served, named - served
