"""Kustomize, Helm and `steward install` produce the same objects for the same values."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from steward.install.__main__ import files
from steward.install.manifests import manifests, monitoring_manifests
from steward.install.operators import OPERATORS
from steward.install.values import (
    Image,
    ImpersonatedAccounts,
    Monitoring,
    NetworkPolicyPeers,
    OperatorValues,
    PageValues,
    TenantsValues,
    Values,
)
from steward.kube.objects.kinds import Manifest
from tests.support.paths import ROOT
from tests.support.programs import built_program

pytestmark = pytest.mark.slow

_SEPARATOR = re.compile(r"^---$", re.MULTILINE)
REPOSITORY = "image.repository=registry.example.com/steward"
LARGE = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi", "cpu": "2"}}

CHOICES = {
    "defaults": Values(),
    "multigres alone": Values(tenants=TenantsValues(enabled=False)),
    "tenants alone": Values(multigres=OperatorValues(enabled=False)),
    "without webhooks": Values(webhooks=False),
    "without definitions and policies": Values(crds=False, network_policy=False, admission_policies=False),
    "some namespaces": Values(
        multigres=OperatorValues(namespaces=["shop", "123"]), tenants=TenantsValues(namespaces=["shop"])
    ),
    "partitions": Values(
        tenants=TenantsValues(partitions=3, pod_labels={"team": "x"}, args=["--log-level=debug"])
    ),
    "the page": Values(page=PageValues(enabled=True)),
    "the page behind a proxy": Values(
        page=PageValues(
            enabled=True,
            actions=True,
            public_url="https://steward.example.com",
            certificate_secret="page-tls",
            resources=LARGE,
            node_selector={"pool": "system"},
            tolerations=[{"key": "system", "operator": "Exists", "effect": "NoSchedule"}],
            affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        )
    ),
    "templates with more rights": Values(
        tenants=TenantsValues(
            impersonate=[ImpersonatedAccounts("shop", ["a", "b"]), ImpersonatedAccounts("123", ["c"])],
            template_scope="cluster",
            allow_kinds=["RoleBinding", "Role"],
        )
    ),
    "everything changed": Values(
        image=Image("registry.example/steward", "9.9", "Always", f"sha256:{'a' * 64}"),
        image_pull_secrets=[{"name": "pull"}],
        # Helm merges maps: a value can be changed but not removed.
        multigres=OperatorValues(
            replicas=1,
            args=["--log-level=debug"],
            env=[{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
            resources=LARGE,
            node_selector={"pool": "system"},
            tolerations=[{"key": "system", "operator": "Exists", "effect": "NoSchedule"}],
            affinity={"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
            pod_labels={"team": "databases", "app.kubernetes.io/name": "not-replaced"},
            pod_annotations={"example.org/scrape": "true"},
            service_account_annotations={"example.org/role": "databases"},
            extra_volumes=[{"name": "ca", "configMap": {"name": "company-ca"}}],
            extra_volume_mounts=[{"name": "ca", "mountPath": "/etc/company-ca", "readOnly": True}],
            webhook_certificate_secret="webhook-tls",
        ),
        tenants=TenantsValues(replicas=3, args=["--shard=0/2", "--no-cross-namespace"]),
        priority_class_name="system-cluster-critical",
        network_policy_peers=NetworkPolicyPeers(
            metrics=[{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
            webhooks=[{"ipBlock": {"cidr": "10.0.0.1/32"}}],
        ),
        monitoring=Monitoring(
            service_monitor=True,
            pod_monitors=True,
            alerts=True,
            dashboards=True,
            runbook_base_url="https://git.example.com/steward/",
        ),
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_the_chart_makes_what_install_makes(choice: str, tmp_path: Path) -> None:
    values = CHOICES[choice]
    file = tmp_path / "values.yaml"
    chosen = {name: value for name, value in msgspec.to_builtins(values).items() if name != "namespace"}
    file.write_text(json.dumps(chosen))

    made = _objects(_helm("template", "steward", "chart", "-n", values.namespace, "-f", str(file)))

    expected = [_without_keep(manifest) for manifest in manifests(values) if manifest["kind"] != "Namespace"]
    assert _by_name([_without_keep(manifest) for manifest in made]) == _by_name(expected)


def test_the_chart_keeps_its_definitions_on_uninstall() -> None:
    made = _objects(_helm("template", "steward", "chart", "-n", "steward-system", "--set", REPOSITORY))

    kept = [m["metadata"]["annotations"] for m in made if m["kind"] == "CustomResourceDefinition"]

    assert len(kept) == 12
    assert all(annotations["helm.sh/resource-policy"] == "keep" for annotations in kept)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("multigres.replica=3", "additional properties 'replica' not allowed"),
        ("multigres.replicas=two", "at '/multigres/replicas'"),
        ("multigres.replicas=-1", "at '/multigres/replicas'"),
        ("image.pullPolicy=Sometimes", "at '/image/pullPolicy'"),
        ("image.digest=latest", "at '/image/digest'"),
        ("webhooks=maybe", "at '/webhooks'"),
        ("multigres.namespaces={kube-system}", "at '/multigres/namespaces/0'"),
        ("multigres.impersonate={}", "additional properties 'impersonate' not allowed"),
        ("tenants.templateScope=all", "at '/tenants/templateScope'"),
        ("tenants.allowKinds={Role Binding}", "at '/tenants/allowKinds/0'"),
        (
            "tenants.impersonate[0].namespace=kube-system,tenants.impersonate[0].serviceAccounts={a}",
            "at '/tenants/impersonate/0/namespace'",
        ),
    ],
)
def test_an_invalid_value_is_rejected_by_name(given: str, message: str) -> None:
    done = _run("helm", "template", "steward", "chart", "--set", given)

    assert done.returncode != 0
    assert message in done.stderr


def test_the_operators_are_not_installed_in_a_namespace_of_kubernetes() -> None:
    done = _run("helm", "template", "steward", "chart", "-n", "kube-system")

    assert done.returncode != 0
    assert "kube-system belongs to Kubernetes" in done.stderr


def test_the_chart_asks_for_the_repository_of_the_image() -> None:
    done = _run("helm", "template", "steward", "chart")

    assert done.returncode != 0
    assert "image.repository is empty: name the registry that your nodes pull the image" in done.stderr


def test_helm_has_nothing_to_warn_about() -> None:
    assert _run("helm", "template", "steward", "chart", "--set", REPOSITORY).stderr == ""


def test_kustomize_makes_what_install_makes() -> None:
    done = _run("kubectl", "kustomize", "config/default")
    assert done.returncode == 0, done.stderr

    assert _by_name(_objects(done.stdout)) == _by_name(manifests(Values()))


def test_the_generated_files_are_current() -> None:
    stale = [name for name, text in files(ROOT).items() if (ROOT / name).read_text() != text]

    assert stale == [], "run: make generate"


def test_kustomize_has_the_monitoring_that_install_has() -> None:
    done = _run("kubectl", "kustomize", "config/monitoring")
    assert done.returncode == 0, done.stderr
    values = Values(
        monitoring=Monitoring(service_monitor=True, pod_monitors=True, alerts=True, dashboards=True)
    )

    expected = [made for operator in OPERATORS for made in monitoring_manifests(operator, values)]

    assert _by_name(_objects(done.stdout)) == _by_name(expected)


def _without_keep(manifest: Manifest) -> Manifest:
    if manifest["kind"] != "CustomResourceDefinition":
        return manifest
    annotations = dict(manifest["metadata"].get("annotations") or {})
    annotations.pop("helm.sh/resource-policy", None)
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def _by_name(found: list[Manifest]) -> dict[str, Manifest]:
    named = {
        "/".join((m["kind"], m["metadata"].get("namespace", ""), m["metadata"]["name"])): m for m in found
    }
    assert len(named) == len(found)
    return named


def _objects(text: str) -> list[Any]:
    return [document for part in _SEPARATOR.split(text) if (document := _document(part))]


@cache
def _document(text: str) -> Any:
    """Most documents, and the largest, are the same for every choice of values."""
    return yaml.load(text, yaml.CSafeLoader)


def _helm(*args: str) -> str:
    done = _run("helm", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def _program(name: str) -> str:
    return str(built_program(name))


def _run(name: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_program(name), *args], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
