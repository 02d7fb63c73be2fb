"""An author of TenantTemplates, who has no other write right, steals tokens and data, and forges labels.

The operator runs with its default flags and the shipped roles. Most attacks are hand-made Tenants: they hold what a
template would render, and obey the same limits.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from tests.attacks.support.template_author import (
    LABEL,
    PASSWORD,
    Site,
    published,
    secret,
    token_secret,
    until_denied,
)
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import (
    Customers,
    World,
    config_template,
    sqlite_registry,
    until,
)
from tests.tenants.support.fleet import TENANT, Fleet, Manifest, config_map, resource
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.manifests import template
from tests.tenants.support.operator import running_operator

pytestmark = pytest.mark.timeout(1200)


def theft(kind_of_secret: str, namespace: str) -> Manifest:
    found = token_secret("", "clusterrole-aggregation-controller") | {"type": kind_of_secret}
    del found["metadata"]["name"]
    return {
        "id": "token",
        "nameTemplate": "{{ .uid }}-token",
        "targetNamespace": namespace,
        "readyWhen": "{{ .data.token | b64dec | substr 0 55 }}",
        "spec": found,
    }


def as_author(site: Site, home: str) -> Callable[[Manifest], None]:
    """Applies manifests as a user whose only right is to write TenantTemplates."""
    kubectl, where = site.kubectl, ("-n", home)
    kubectl("create", "serviceaccount", "author", *where)
    kubectl("create", "role", "author", "--verb=create,patch,get", "--resource=tenanttemplates", *where)
    kubectl("create", "rolebinding", "author", "--role=author", f"--serviceaccount={home}:author", *where)
    user = f"--as=system:serviceaccount:{home}:author"

    def apply(manifest: Manifest) -> None:
        _, error = kubectl.run("apply", "--server-side", user, *where, "-f", "-", document=manifest)
        assert not error

    return apply


def test_the_author_of_a_template_gets_no_token_of_another_account(site: Site) -> None:
    home = next(site.homes)
    fleet, world = Fleet(site.kubectl, home), World(site.kubectl, home)
    customers = Customers(site.directory)
    customers.add("acme")
    world.apply(sqlite_registry())
    apply = as_author(site, home)

    hidden = '{{ printf "kubernetes.io/%s" "service-account-token" }}'
    apply(template(secrets=[theft(hidden, '{{ printf "kube-%s" "system" }}')]))
    until(lambda: "acme-web-app" in world.tenants(), world.status)
    assert "kube-system belongs to Kubernetes" in until_denied(fleet, "acme-web-app")

    apply(template(secrets=[theft(hidden, home)]))
    fleet.until(
        lambda: "a Secret of type" in fleet.condition("Degraded", "acme-web-app").get("message", ""),
        "the token Secret to be denied in the own namespace",
    )
    for namespace in ("kube-system", home):
        assert fleet.get("secret", "acme-token", namespace) is None
    customers.remove("acme")
    world.apply(sqlite_registry(deletionGuard={"allowEmpty": True}))
    world.kubectl("delete", "tenantregistry", "prod", "--wait=false")


def test_a_password_of_another_namespace_is_neither_shown_nor_changed(fleet: Fleet, victim: str) -> None:
    before = fleet.get("secret", "database", victim)
    rule = "{{ .data.password | b64dec }}"
    fleet.tenant(
        manifests=[resource("peep", secret("database", victim), conflictPolicy="Force", readyWhen=rule)]
    )
    assert f"namespace {victim} is not open to templates of {fleet.namespace}" in until_denied(fleet)
    assert fleet.get("secret", "database", victim) == before
    assert PASSWORD not in published(fleet)


RULES = {
    "text": "{{ .data.password }}",
    "slice": "{{ .data.password | substr 0 12 }}",
    "failure": "{{ fail .data.password }}",
    "number": "{{ mustToDate .data.password .data.password }}",
}


def test_the_status_has_only_the_verdict_of_a_rule(fleet: Fleet) -> None:
    """Also for objects that the template may write: many read the status of a Tenant, few its objects."""
    rules = [
        resource(name, config_map(name, password=PASSWORD), readyWhen=rule, timeoutSeconds=1)
        for name, rule in RULES.items()
    ]
    fleet.tenant(configMaps=rules)
    fleet.until(lambda: fleet.status().get("failedResources") == len(RULES), "all rules to be evaluated")
    message = fleet.until_reason("Degraded", "ResourceFailures")["message"]
    assert "text: not ready within 1 seconds: readyWhen renders neither true nor false" in message
    assert "failure: not ready within 1 seconds: readyWhen cannot be rendered at line 1" in message
    events = str(fleet.until_event("ReadinessTimeout")) + str(fleet.events("ReadinessTimeout"))
    shown = str(fleet.status()) + events
    assert not any(PASSWORD[start : start + 5] in shown for start in range(len(PASSWORD) - 4))


def test_a_denial_is_the_same_whether_or_not_an_object_exists(fleet: Fleet, victim: str) -> None:
    absent = f"{victim}-absent"
    for name, (where, what) in {"a": (victim, "database"), "b": (victim, "no"), "c": (absent, "no")}.items():
        wanted = resource("peep", config_map(what, where), conflictPolicy="Force", ignoreFields=["$.data"])
        fleet.tenant(name, configMaps=[wanted])
    found = {
        name: until_denied(fleet, name).replace(absent, "X").replace(victim, "X").replace("database", "no")
        for name in ("a", "b", "c")
    }
    assert found["a"] == found["b"] == found["c"]


def test_an_account_without_rights_does_not_learn_what_exists(fleet: Fleet, victim: str) -> None:
    fleet.kubectl("create", "serviceaccount", "nobody", "-n", fleet.namespace)
    allow_impersonation(fleet.kubectl, fleet.namespace, "nobody")
    fleet.apply(config_map("known", victim))
    for name, what in {"a": "known", "b": "unknown"}.items():
        peep = resource("peep", config_map(what, victim), ignoreFields=["$.data"])
        fleet.tenant(name, serviceAccountName="nobody", configMaps=[peep])
    messages = [until_denied(fleet, name) for name in ("a", "b")]
    assert messages[0].replace("known", "unknown") == messages[1]


MALFORMED: list[Manifest] = [
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ["a"]}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": {"b": 1}}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": [1]}},
    {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": "b"}},
    {"apiVersion": "v1", "kind": ["ConfigMap"], "metadata": {"name": "a"}},
    {"apiVersion": 1, "metadata": "text"},
    {},
]


def test_malformed_objects_are_reported_and_do_not_keep_their_tenant(fleet: Fleet) -> None:
    """Without a traceback in the log of the operator, which its fixture checks."""
    names = [f"t{number}" for number in range(len(MALFORMED))]
    for name, body in zip(names, MALFORMED, strict=True):
        fleet.tenant(name, manifests=[resource("bad", body)])
    for name in names:
        message = fleet.until_reason("Degraded", "UnreadableSpec", name)["message"]
        assert message.startswith("the spec cannot be read: resource 'bad', spec")
    fleet.kubectl("delete", TENANT, "--all", "-n", fleet.namespace, "--wait=false")
    for name in names:
        fleet.until_deleted(TENANT, name)


def test_forged_labels_get_no_object_of_another_namespace_deleted_or_changed(
    fleet: Fleet, victim: str
) -> None:
    forged = {LABEL: "acme", "kubernetes-tenants.org/tenant-namespace": fleet.namespace}
    plan = config_map("plan", victim, v="theirs")
    plan["metadata"]["labels"] = forged
    plan["metadata"]["annotations"] = {"kubernetes-tenants.org/deletion-policy": "Delete"}
    fleet.apply(plan)
    before = fleet.get("configmap", "plan", victim)
    rule = "{{ .data.v }}"
    fleet.tenant(configMaps=[resource("plan", config_map("plan", victim, v="ours"), readyWhen=rule)])
    until_denied(fleet)
    assert "theirs" not in published(fleet)
    fleet.tenant(configMaps=[])
    fleet.until_ready()
    fleet.tenant(configMaps=[resource("plan", config_map("plan", victim, v="ours"))])
    until_denied(fleet)
    fleet.kubectl("delete", TENANT, "acme", "-n", fleet.namespace, "--wait=false")
    fleet.until_deleted(TENANT, "acme")
    assert fleet.get("configmap", "plan", victim) == before


def test_objects_of_the_old_scope_stay_until_their_tenant_is_deleted(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, namespace: str, victim: str, tmp_path: Path
) -> None:
    fleet = Fleet(tenants_kubectl, namespace)
    there = [resource("there", config_map("there", victim, v="1"))]
    with running_operator(control_plane, namespace, tmp_path / "old.log", template_scope="cluster"):
        fleet.tenant(configMaps=there)
        fleet.until_ready()
    before = fleet.get("configmap", "there", victim)
    with running_operator(control_plane, namespace, tmp_path / "new.log"):
        message = until_denied(fleet)
        assert "It was applied before and stays as it is" in message
        assert fleet.get("configmap", "there", victim) == before
        assert fleet.status()["appliedResources"] == [f"ConfigMap/{victim}/there@there"]
        fleet.kubectl("delete", TENANT, "acme", "-n", namespace, "--wait=false")
        fleet.until_deleted(TENANT, "acme")
    assert fleet.get("configmap", "there", victim) is None


def test_the_old_scope_is_shown_on_the_templates_that_use_it(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    world = World(tenants_kubectl, namespace)
    world.apply(config_template("open"), config_template("bound", serviceAccountName="deployer"))
    with running_operator(control_plane, namespace, tmp_path / "old.log", template_scope="cluster"):
        found = world.until_condition("Unrestricted", "True", kind="tenanttemplate", name="open")
        assert (found["reason"], "--template-scope=cluster" in found["message"]) == ("OperatorRights", True)
        world.until_condition("Valid", "False", kind="tenanttemplate", name="bound")
        assert world.condition("Unrestricted", "tenanttemplate", "bound")["status"] == ""
    with running_operator(control_plane, namespace, tmp_path / "new.log"):
        world.until_condition("Unrestricted", "", kind="tenanttemplate", name="open")
        world.kubectl("delete", "tenanttemplate", "--all")
