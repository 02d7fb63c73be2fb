"""Installs, upgrades and uninstalls on a real server, with `steward`, kustomize and Helm.

All tests share one server: they run in order, and each begins with the installation that the one before it leaves.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from steward.install.values import VERSION
from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.install.support.document_shell import HELM, INSTALLS, UNINSTALLS, DocumentShell, page_commands
from tests.install.support.prometheus_kinds import PLURALS, definitions
from tests.install.support.steward import Steward, wait_until_uninstalled
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml_documents

OURS = "namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingwebhookconfigurations"
WEBHOOKS = "mutatingwebhookconfigurations,validatingwebhookconfigurations"
PART_OF_STEWARD = "app.kubernetes.io/part-of=steward"
MANAGED = "app.kubernetes.io/managed-by"
HELM_NAMESPACE = "steward-helm"
EARLIER = "0.0.9"
MONITORED = "--set " + ",".join(
    f"monitoring.{name}=true" for name in ("serviceMonitor", "podMonitors", "alerts", "dashboards")
)
ADDED = "multiadminWeb"
"""A field that the earlier version does not have."""
CLUSTER = {
    "apiVersion": "multigres.com/v1alpha1",
    "kind": "MultigresCluster",
    "metadata": {"name": "alive", "namespace": "default", "finalizers": ["multigres.com/cleanup"]},
    "spec": {"cells": [{"name": "a", "zone": "z1"}]},
}


@pytest.fixture(scope="module")
def steward(own_plane: ControlPlane, own_kubectl: Kubectl) -> Iterator[Steward]:
    found = Steward(own_plane)
    yield found
    if _has_definitions(own_kubectl):
        own_kubectl("delete", "multigresclusters", "--all", "-A")
    found("uninstall", "--yes")
    wait_until_uninstalled(own_kubectl)


def _has_definitions(kubectl: Kubectl) -> bool:
    return "multigresclusters" in kubectl("get", "crds", "-o", "name")


def test_the_operators_run_in_a_restricted_namespace(steward: Steward, own_kubectl: Kubectl) -> None:
    output = steward("install", "--apply", "--only", "multigres")
    assert [line for line in output.splitlines()[:-1] if not line.endswith(" created")] == []

    own_kubectl(
        "rollout", "status", "deployment/multigres-operator", "-n", "steward-system", "--timeout=120s"
    )

    assert own_kubectl("get", "deployment", "-n", "steward-system", "-o", "name").split() == [
        "deployment.apps/multigres-operator"
    ]


@pytest.fixture(scope="module")
def installed(steward: Steward, own_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Steward:
    """Both operators are installed, without webhooks: no container runs here that could serve them."""
    file = tmp_path_factory.mktemp("installed") / "values.yaml"
    file.write_text("webhooks: false\n")
    own_kubectl("delete", WEBHOOKS, "-l", MANAGED)
    steward("install", "--apply", "--values", str(file))
    return steward


def test_nothing_is_deleted_without_an_answer_or_by_a_dry_run(
    installed: Steward, own_kubectl: Kubectl
) -> None:
    planned = installed("uninstall", "--dry-run")
    done = installed.run("uninstall")

    assert "Deployment tenant-operator would be deleted" in planned.splitlines()
    assert (done.returncode, "pass --yes" in done.stderr) == (1, True)
    assert len(own_kubectl.json("get", "deployments", "-n", "steward-system")["items"]) == 2


def test_uninstalling_is_refused_while_a_cluster_exists(installed: Steward, own_kubectl: Kubectl) -> None:
    metadata = {"name": "alive", "namespace": "default"}
    own_kubectl("apply", "-f", "-", document={**CLUSTER, "metadata": metadata})

    done = installed.run("uninstall")

    assert done.returncode == 1
    assert "MultigresCluster default/alive" in done.stderr
    assert "--release" in done.stderr
    assert own_kubectl("get", "namespace", "steward-system", "-o", "name") == "namespace/steward-system\n"


def test_released_clusters_stay_without_our_finalizer(installed: Steward, own_kubectl: Kubectl) -> None:
    own_kubectl("apply", "-f", "-", document=CLUSTER)

    output = installed("uninstall", "--yes", "--release")

    assert "MultigresCluster default/alive released" in output
    wait_until_uninstalled(own_kubectl)
    alive = own_kubectl.json("get", "multigrescluster", "alive")
    assert "finalizers" not in alive["metadata"]
    assert _has_definitions(own_kubectl)
    own_kubectl("delete", "multigrescluster", "alive")


def test_uninstalling_without_the_values_removes_every_role(
    steward: Steward, own_kubectl: Kubectl, tmp_path: Path
) -> None:
    named = [{"namespace": "default", "serviceAccounts": ["deployer"]}]
    chosen = {"multigres": {"namespaces": ["default"]}, "tenants": {"impersonate": named}}
    (tmp_path / "values.yaml").write_text(yaml.safe_dump(chosen))
    labelled = ("get", "roles,rolebindings", "-n", "default", "-o", "name", "-l", PART_OF_STEWARD)
    steward("install", "--apply", "--values", str(tmp_path / "values.yaml"))
    assert len(own_kubectl(*labelled).split()) == 3

    steward("uninstall", "--yes")

    assert own_kubectl(*labelled) == ""
    absent = steward.run("doctor")
    assert (absent.returncode, absent.stdout.count("\n")) == (1, 2)
    assert absent.stdout.startswith("✗ Steward: is not installed in this cluster")
    assert own_kubectl("get", "clusterroles", "-o", "name", "-l", PART_OF_STEWARD) == ""
    wait_until_uninstalled(own_kubectl)


@pytest.fixture
def document_shell(own_plane: ControlPlane, tmp_path: Path) -> DocumentShell:
    return DocumentShell(tmp_path / "shell", own_plane)


@pytest.fixture(scope="module")
def prometheus_kinds(own_kubectl: Kubectl) -> None:
    """The CRDs of the Prometheus operator are installed."""
    for definition in definitions():
        own_kubectl("create", "-f", str(definition))
    _wait_until_served(own_kubectl, *PLURALS)


def _wait_until_served(kubectl: Kubectl, *plurals: str) -> None:
    while kubectl.run("get", ",".join(plurals))[1]:
        time.sleep(0.2)


@pytest.mark.usefixtures("prometheus_kinds")
def test_commands_of_the_pages_install_twice_and_uninstall_completely(
    steward: Steward, own_kubectl: Kubectl, document_shell: DocumentShell
) -> None:
    *uninstalls, release = page_commands(UNINSTALLS)
    for words in INSTALLS:
        for command in page_commands(words):
            document_shell.run(command)
    assert len(own_kubectl.json("get", "deployments", "-n", "steward-system")["items"]) == 2
    again = steward("install", "--apply")
    assert [line for line in again.splitlines()[:-1] if not line.endswith(" unchanged")] == []

    for command in uninstalls:
        document_shell.run(command)

    assert release.endswith("--release")
    wait_until_uninstalled(own_kubectl)
    left = own_kubectl("get", OURS, "-l", PART_OF_STEWARD, "-o", "name")
    assert left == ""
    assert own_kubectl("get", WEBHOOKS, "-l", MANAGED, "-o", "name") == ""
    assert not _has_definitions(own_kubectl)


@pytest.fixture
def earlier_chart(tmp_path: Path) -> Path:
    """The chart of an earlier version, made from this one because none has been released: another image, and a CRD
    without one field."""
    chart = tmp_path / "chart"
    shutil.copytree(ROOT / "chart", chart)
    for name in ("Chart.yaml", "values.yaml"):
        file = chart / name
        file.write_text(file.read_text().replace(VERSION, EARLIER))
    definition = chart / "files" / "crd" / "multigres.com_multigresclusters.yaml"
    manifest = yaml.load(definition.read_text(), yaml.CSafeLoader)
    del _fields(manifest)[ADDED]
    definition.write_text(yaml.dump(manifest, Dumper=yaml.CSafeDumper))
    return chart


def _fields(crd: Manifest) -> dict[str, Any]:
    """Schema properties of the spec of a MultigresCluster."""
    fields: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return fields["properties"]


def _delete_definitions(kubectl: Kubectl) -> None:
    # For a kind that was never used the server does not know at once whether objects exist, and checks again after
    # five minutes. So list each kind before deleting its CRD.
    names = [name.partition("/")[2] for name in kubectl("get", "crds", "-o", "name").split()]
    kubectl("get", ",".join(names), "-A")
    kubectl("delete", "crds", "--all")


def _versions(kubectl: Kubectl) -> list[str]:
    """The images of both operators, and the generation and resourceVersion of the cluster."""
    found = kubectl.json("get", "deployments", "-n", HELM_NAMESPACE)["items"]
    images = [each["spec"]["template"]["spec"]["containers"][0]["image"] for each in found]
    alive = kubectl.json("get", "multigrescluster", "alive")["metadata"]
    return [*images, str(alive["generation"]), alive["resourceVersion"]]


@pytest.mark.usefixtures("prometheus_kinds")
@pytest.mark.parametrize(
    "name",
    [
        "pod-monitors",
        "service-monitor",
        "tenants-service-monitor",
        "prometheus-rules",
        "tenants-prometheus-rules",
    ],
)
def test_shipped_monitoring_has_only_fields_that_the_prometheus_operator_knows(
    own_kubectl: Kubectl, name: str
) -> None:
    text = (ROOT / "config" / "monitoring" / f"{name}.yaml").read_text()
    for manifest in load_yaml_documents(text):
        manifest["metadata"]["namespace"] = "default"
        own_kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", document=manifest)


@pytest.mark.usefixtures("prometheus_kinds")
def test_helm_upgrades_an_earlier_version_and_leaves_only_the_definitions(
    own_plane: ControlPlane, own_kubectl: Kubectl, document_shell: DocumentShell, earlier_chart: Path
) -> None:
    install, uninstall, upgrade = (
        command.replace("steward-system", HELM_NAMESPACE) for command in page_commands(HELM)
    )
    metadata = {"name": "alive", "namespace": "default"}

    output = document_shell.run(f"{install.replace('./chart', str(earlier_chart))} --values values.yaml")
    assert f"steward doctor --system-namespace {HELM_NAMESPACE}\n" in output
    _wait_until_served(own_kubectl, "multigresclusters")
    own_kubectl("apply", "-f", "-", document={**CLUSTER, "metadata": metadata})
    *images, generation, version = _versions(own_kubectl)
    assert images == [f"registry.example.com/steward:{EARLIER}"] * 2
    assert ADDED not in _fields(own_kubectl.json("get", "crd", "multigresclusters.multigres.com"))

    document_shell.run(f"{upgrade} --values values.yaml --set multigres.replicas=3 {MONITORED}")
    assert _versions(own_kubectl) == [f"registry.example.com/steward:{VERSION}"] * 2 + [generation, version]
    assert ADDED in _fields(own_kubectl.json("get", "crd", "multigresclusters.multigres.com"))
    kinds = "servicemonitors,podmonitors,prometheusrules"
    monitoring = own_kubectl("get", kinds, "-n", HELM_NAMESPACE, "-o", "name")
    assert len(monitoring.split()) == 6
    operator = own_kubectl.json("get", "deployment", "multigres-operator", "-n", HELM_NAMESPACE)
    assert operator["spec"]["replicas"] == 3

    own_kubectl("delete", "multigrescluster", "alive")
    refused = Steward(own_plane).run("uninstall", "--yes", "--namespace", HELM_NAMESPACE)
    assert refused.stderr == (
        f"Error: Helm installed this, so Helm removes it: helm uninstall steward --namespace {HELM_NAMESPACE}\n"
    )
    document_shell.run(uninstall)
    left = own_kubectl("get", OURS, "-l", PART_OF_STEWARD, "-o", "name")
    assert left == ""
    assert _has_definitions(own_kubectl)
    _delete_definitions(own_kubectl)
