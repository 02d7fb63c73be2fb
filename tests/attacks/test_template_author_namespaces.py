"""An author of TenantTemplates writes to namespaces of others, of Kubernetes and of the operator."""

from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.attacks.support.template_author import (
    ALLOW,
    LABEL,
    Site,
    account,
    open_namespace,
    token_secret,
    until_denied,
)
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import TENANT, Fleet, Manifest, config_map, namespace_manifest, resource
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)


def test_another_namespace_is_open_only_while_its_owner_labels_it(fleet: Fleet, victim: str) -> None:
    fleet.tenant(configMaps=[resource("there", config_map("there", victim, v="1"))])
    assert f"{ALLOW}={fleet.namespace}" in until_denied(fleet)
    assert fleet.get("configmap", "there", victim) is None
    assert "applied" not in fleet.status() or fleet.status()["applied"] == []

    open_namespace(fleet.kubectl, victim, fleet.namespace)
    fleet.until_ready()
    uid = fleet.get("configmap", "there", victim)["metadata"]["uid"]

    fleet.kubectl("label", "namespace", victim, f"{ALLOW}-")
    assert "It was applied before and stays as it is" in until_denied(fleet)
    fleet.tenant(configMaps=[resource("there", config_map("there", victim, v="2"))])
    fleet.until(
        lambda: fleet.status()["observedGeneration"] == 2 and fleet.condition("Degraded")["status"] == "True",
        "the new generation to be denied",
    )
    kept = fleet.get("configmap", "there", victim)
    assert (kept["metadata"]["uid"], kept["data"]) == (uid, {"v": "1"})

    fleet.kubectl("delete", TENANT, "acme", "-n", fleet.namespace, "--wait=false")
    fleet.until_deleted(TENANT, "acme")
    assert fleet.get("configmap", "there", victim) is None


def test_a_label_for_one_namespace_opens_none_whose_name_contains_it(fleet: Fleet, victim: str) -> None:
    fleet.kubectl("label", "namespace", victim, f"{ALLOW}={fleet.namespace}x_{fleet.namespace[:-2]}")
    fleet.tenant(configMaps=[resource("there", config_map("there", victim))])
    assert "is not open" in until_denied(fleet)


def test_a_foreign_namespace_is_not_taken_over_by_force(fleet: Fleet, victim: str) -> None:
    taken = namespace_manifest(victim)
    taken["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "privileged"}
    forced: Manifest = {"conflictPolicy": "Force"}
    fleet.tenant(
        namespaces=[resource("space", taken, **forced)],
        configMaps=[resource("there", config_map("there", victim))],
    )
    message = fleet.until_reason("Conflicted", "ResourceConflict")["message"]
    assert f"Namespace {victim} exists already, and no Tenant of this template created it" in message
    for strategy in ("merge", "replace"):
        space = resource("space", taken, **forced, patchStrategy=strategy, creationPolicy="Once")
        fleet.tenant(strategy, namespaces=[space])
        fleet.until_reason("Conflicted", "ResourceConflict", strategy)
    labels = fleet.get("namespace", victim)["metadata"]["labels"]
    assert labels == {"kubernetes.io/metadata.name": victim}
    assert fleet.get("configmap", "there", victim) is None


def test_a_namespace_of_an_orphan_label_belongs_to_those_who_orphaned_it(fleet: Fleet, victim: str) -> None:
    fleet.kubectl("label", "namespace", victim, "kubernetes-tenants.org/orphaned=true")
    fleet.tenant(namespaces=[resource("space", namespace_manifest(victim))])
    fleet.until_reason("Conflicted", "ResourceConflict")
    from_here = f"kubernetes-tenants.org/orphaned-from={fleet.namespace}"
    fleet.kubectl("annotate", "namespace", victim, from_here)
    fleet.until_ready()
    assert fleet.get("namespace", victim)["metadata"]["labels"][LABEL] == "acme"


def test_a_namespace_for_each_tenant_is_open_to_the_tenants_of_its_template(fleet: Fleet) -> None:
    own = f"{fleet.namespace}-acme"
    fleet.tenant(
        namespaces=[resource("space", namespace_manifest(own))],
        configMaps=[resource("inside", config_map("inside", own))],
        serviceAccounts=[resource("account", account("app", own))],
    )
    fleet.until_ready()
    fleet.tenant("sibling", configMaps=[resource("guest", config_map("guest", own))])
    fleet.until_ready("sibling")
    fleet.tenant("stranger", templateRef="another", configMaps=[resource("no", config_map("no", own))])
    assert "is not open" in until_denied(fleet, "stranger")
    assert fleet.events("PermissionDenied")[0]["regarding"]["name"] == "stranger"


def test_the_namespaces_of_kubernetes_and_of_the_operator_are_closed_to_every_account(
    fleet: Fleet, site: Site
) -> None:
    """Even to an account that has all rights."""
    own, where = site.operator_namespace, ("-n", fleet.namespace)
    fleet.kubectl("create", "serviceaccount", "root", *where)
    binding = f"{fleet.namespace}-root"
    who = f"--serviceaccount={fleet.namespace}:root"
    allow_impersonation(fleet.kubectl, fleet.namespace, "root")
    fleet.kubectl("create", "clusterrolebinding", binding, "--clusterrole=cluster-admin", who)
    targets = ("kube-system", "kube-public", own)
    fleet.tenant(
        serviceAccountName="root",
        configMaps=[resource(f"in-{name}", config_map("inside", name)) for name in targets],
        namespaces=[resource(f"of-{name}", namespace_manifest(name)) for name in (*targets, "kube-new")],
        secrets=[resource("token", token_secret(fleet.namespace, "root"))],
    )
    until_denied(fleet)
    assert fleet.status()["failedResources"] == 8
    assert all(fleet.get("configmap", "inside", name) is None for name in targets)
    assert fleet.get("namespace", "kube-new") is None
    assert fleet.get("secret", "stolen") is None
    fleet.kubectl("delete", "clusterrolebinding", binding)


def test_with_no_cross_namespace_nothing_outside_is_written(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, namespace: str, victim: str, tmp_path: Path
) -> None:
    fleet = Fleet(tenants_kubectl, namespace)
    tenants_kubectl("label", "namespace", victim, f"{ALLOW}={namespace}")
    with running_operator(control_plane, namespace, tmp_path / "log", no_cross_namespace="true"):
        fleet.tenant(
            namespaces=[resource("space", namespace_manifest(f"{namespace}-new"))],
            configMaps=[
                resource("there", config_map("there", victim), conflictPolicy="Force"),
                resource("here", config_map("here")),
            ],
        )
        message = until_denied(fleet)
        assert fleet.get("configmap", "here") is not None
        fleet.kubectl("delete", TENANT, "acme", "-n", namespace, "--wait=false")
        fleet.until_deleted(TENANT, "acme")
    assert message.count(f"--no-cross-namespace keeps templates in {namespace}") == 2
    assert fleet.get("configmap", "there", victim) is None
    assert fleet.get("namespace", f"{namespace}-new") is None
