"""Installing, upgrading and uninstalling on a real server, by each of the ways that users have."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.kubectl import Kubectl
from tests.programs import program

ROOT = Path(__file__).parents[2]
OURS = "namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingwebhookconfigurations"
CLUSTER = {
    "apiVersion": "multigres.com/v1alpha1",
    "kind": "MultigresCluster",
    "metadata": {"name": "alive", "namespace": "default", "finalizers": ["multigres.com/cleanup"]},
    "spec": {"cells": [{"name": "a", "zone": "z1"}]},
}


class Steward:
    """The command line against the plane of these tests."""

    def __init__(self, plane: ControlPlane) -> None:
        self._kubeconfig = ["--kubeconfig", str(plane.kubeconfig)]

    def run(self, verb: str, *args: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / "steward"), verb, *args, *self._kubeconfig]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)

    def __call__(self, verb: str, *args: str) -> str:
        done = self.run(verb, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def steward(own_plane: ControlPlane, own_kubectl: Kubectl) -> Iterator[Steward]:
    found = Steward(own_plane)
    yield found
    if _has_definitions(own_kubectl):
        own_kubectl("delete", "multigresclusters", "--all", "-A")
    found("uninstall")
    wait_until_gone(own_kubectl)


@pytest.fixture
def without_webhooks(tmp_path: Path) -> Path:
    """Values for a server on which no container runs that could answer webhooks."""
    file = tmp_path / "values.yaml"
    file.write_text("webhooks: false\n")
    return file


def _has_definitions(kubectl: Kubectl) -> bool:
    return "multigresclusters" in kubectl("get", "crds", "-o", "name")


def wait_until_gone(kubectl: Kubectl) -> None:
    if "steward-system" in kubectl("get", "namespaces", "-o", "name"):
        kubectl("wait", "--for=delete", "namespace/steward-system", "--timeout=120s")


def test_installing_twice_changes_nothing(steward: Steward) -> None:
    first = steward("install", "--apply")
    second = steward("install", "--apply")

    assert [line for line in first.splitlines()[:-1] if not line.endswith(" created")] == []
    assert [line for line in second.splitlines()[:-1] if not line.endswith(" unchanged")] == []


def test_the_operators_run_in_a_restricted_namespace(steward: Steward, own_kubectl: Kubectl) -> None:
    steward("install", "--apply", "--only", "multigres")

    own_kubectl(
        "rollout", "status", "deployment/multigres-operator", "-n", "steward-system", "--timeout=120s"
    )

    assert own_kubectl("get", "deployment", "-n", "steward-system", "-o", "name").split() == [
        "deployment.apps/multigres-operator"
    ]


def test_uninstalling_leaves_nothing(steward: Steward, own_kubectl: Kubectl) -> None:
    steward("install", "--apply")

    steward("uninstall")

    wait_until_gone(own_kubectl)
    left = own_kubectl("get", OURS, "-l", "app.kubernetes.io/part-of=steward", "-o", "name")
    assert left == ""
    assert not _has_definitions(own_kubectl)


def test_uninstalling_is_refused_while_a_cluster_lives(
    steward: Steward, own_kubectl: Kubectl, without_webhooks: Path
) -> None:
    steward("install", "--apply", "--values", str(without_webhooks))
    held = {"name": "alive", "namespace": "default"}
    own_kubectl("apply", "-f", "-", document={**CLUSTER, "metadata": held})

    done = steward.run("uninstall")

    assert done.returncode == 1
    assert "MultigresCluster default/alive" in done.stderr
    assert "--release" in done.stderr
    assert own_kubectl("get", "namespace", "steward-system", "-o", "name") == "namespace/steward-system\n"


def test_released_clusters_live_on_without_our_finalizer(
    steward: Steward, own_kubectl: Kubectl, without_webhooks: Path
) -> None:
    steward("install", "--apply", "--values", str(without_webhooks))
    own_kubectl("apply", "-f", "-", document=CLUSTER)

    told = steward("uninstall", "--release")

    assert "MultigresCluster default/alive released" in told
    wait_until_gone(own_kubectl)
    alive = own_kubectl.json("get", "multigrescluster", "alive")
    assert "finalizers" not in alive["metadata"]
    assert _has_definitions(own_kubectl)


def test_helm_installs_upgrades_and_leaves_only_the_definitions(
    own_plane: ControlPlane, own_kubectl: Kubectl
) -> None:
    helm = [str(program("helm")), "--kubeconfig", str(own_plane.kubeconfig), "-n", "steward-helm"]

    def run(*args: str) -> None:
        done = subprocess.run(
            [*helm, *args], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr

    run("install", "steward", "chart", "--create-namespace")
    run("upgrade", "steward", "chart", "--set", "multigres.replicas=3")
    replicas = own_kubectl.json("get", "deployment", "multigres-operator", "-n", "steward-helm")
    assert replicas["spec"]["replicas"] == 3

    run("uninstall", "steward")

    left = own_kubectl("get", OURS, "-l", "app.kubernetes.io/part-of=steward", "-o", "name")
    assert left == ""
    assert _has_definitions(own_kubectl)
    own_kubectl("delete", "crds", "--all")
