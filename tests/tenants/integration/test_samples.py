"""Every sample on a real control plane: its rows become Tenants, and these become Ready.

Each file has a table, a registry and a template of its own, named after it, so that all of them run side by side.
All read SQLite: `tests/tenants/sources` reads from real MySQL and PostgreSQL servers.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.labels import AGGREGATION_LABEL
from tests.multigres.support import operator as multigres_operator
from tests.support import definitions, namespaces
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml_documents
from tests.tenants.support.customers import FILE, Customers, World, until
from tests.tenants.support.impersonation import allow_impersonation
from tests.tenants.support.operator import running_operator

SAMPLES = sorted((ROOT / "config/samples/tenants").glob("*.yaml"))
DATABASE, OWN_NAMESPACE = "database-per-tenant", "namespace-per-tenant"
"""Samples with a test of their own, because they need another operator."""
CERTIFICATES = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "certificates.cert-manager.io"},
    "spec": {
        "group": "cert-manager.io",
        "names": {"kind": "Certificate", "plural": "certificates"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}
"""The kind of cert-manager, which the sample with conditions uses."""
VALUES = {
    "uid": "{uid}",
    "hostOrUrl": "https://{uid}.example.com",
    "activate": "1",
    "plan": "gold",
    "image": "nginx:stable",
    "domains": '["shop.example.com", "www.example.com"]',
}
"""By variable. Columns that only a condition names have a value that meets it."""


def documents(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a sample that reads the table of its own name."""
    found = [each for each in load_yaml_documents(file.read_text()) if each]
    registries = [each for each in found if each["kind"] == "TenantRegistry"]
    for registry in registries or [customers_registry()]:
        where = registry["spec"]["source"].get("where")
        sqlite = {"file": FILE, "table": file.stem.replace("-", "_")}
        source = {"type": "sqlite", "syncInterval": "1s", "sqlite": sqlite}
        registry["spec"]["source"] = {**source, "where": where} if where else source
        registry["metadata"]["name"] = file.stem
        yield registry
    for template in found:
        if template["kind"] == "TenantTemplate":
            template["metadata"]["name"] = template["spec"]["registryId"] = file.stem
            yield template


def customers_registry() -> dict[str, Any]:
    """The registry that the templates without one of their own refer to."""
    parts = load_yaml_documents((ROOT / "config/samples/tenants/mysql.yaml").read_text())
    return next(each for each in parts if each["kind"] == "TenantRegistry")


def row_of(registry: dict[str, Any], uid: str) -> dict[str, str]:
    """A value for each column that the registry names."""
    spec = registry["spec"]
    mapped = {**spec["valueMappings"], **spec.get("extraValueMappings", {})}
    row = {column: VALUES.get(variable, "x").format(uid=uid) for variable, column in mapped.items()}
    for condition in spec["source"].get("where", []):
        row[condition["column"]] = condition["values"][0] if "operator" not in condition else "customer"
    return row


def create_table(customers: Customers, registry: dict[str, Any], uid: str = "") -> None:
    row = row_of(registry, uid or registry["metadata"]["name"])
    table = registry["spec"]["source"]["sqlite"]["table"]
    customers.run(f"CREATE TABLE {table} ({', '.join(f'{column} TEXT' for column in row)})")
    customers.run(f"INSERT INTO {table} VALUES ({', '.join('?' for _ in row)})", *row.values())


def is_ready(status: dict[str, Any]) -> bool:
    return any((each["type"], each["status"]) == ("Ready", "True") for each in status.get("conditions", []))


@pytest.fixture
def granted(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """What users of the samples have: cert-manager with rights for the operator, and the account `web-app`."""
    definitions.apply_crds(control_plane, kubectl, [CERTIFICATES])
    role, where = f"{namespace}-certificates", ("-n", namespace)
    verbs = "--verb=get,list,watch,create,patch,delete"
    kubectl("create", "clusterrole", role, verbs, "--resource=certificates.cert-manager.io")
    kubectl("label", "clusterrole", role, f"{AGGREGATION_LABEL}=true")
    kubectl("create", "serviceaccount", "web-app", *where)
    kubectl("create", "role", "web-app", "--verb=*", "--resource=configmaps", *where)
    kubectl(
        "create", "rolebinding", "web-app", "--role=web-app", f"--serviceaccount={namespace}:web-app", *where
    )
    allow_impersonation(kubectl, namespace, "web-app")
    yield
    kubectl("delete", "clusterrole", role)


def issue_certificates(world: World) -> None:
    """As cert-manager does when it has issued one."""
    for certificate in world.all("certificates"):
        patch = '{"status":{"notAfter":"2030-01-01T00:00:00Z"}}'
        world.kubectl("patch", "certificate", certificate["metadata"]["name"], "--type=merge", "-p", patch)


def test_the_tenants_of_all_samples_become_ready(granted: None, world: World, customers: Customers) -> None:
    files = [file for file in SAMPLES if file.stem not in (OWN_NAMESPACE, DATABASE)]
    found = [document for file in files for document in documents(file)]
    for document in found:
        if document["kind"] == "TenantRegistry":
            create_table(customers, document)
    world.apply(*found)
    with_template = {each["metadata"]["name"] for each in found if each["kind"] == "TenantTemplate"}
    expected = {f"{name}-{name}" for name in with_template}

    def ready() -> set[str]:
        return {name for name, each in world.tenants().items() if is_ready(each.get("status", {}))}

    until(lambda: world.all("certificates"), world.tenants)
    issue_certificates(world)
    until(lambda: ready() == expected, lambda: (expected - ready(), world.tenants()))
    assert world.get("configmap", "conditions-gold")["data"] == {"plan": "gold"}
    for name in sorted({file.stem for file in files} - with_template):
        world.until_condition("SourceReachable", "True", name=name)
    domains = {
        "list-column-shop.example.com": "shop.example.com",
        "list-column-www.example.com": "www.example.com",
    }
    assert {name: world.get("configmap", name)["data"]["domain"] for name in domains} == domains
    customers.run("UPDATE list_column SET domains = ?", '["www.example.com"]')
    until(lambda: world.get("configmap", "list-column-shop.example.com") is None)
    assert world.get("configmap", "list-column-www.example.com") is not None


def test_the_row_of_a_tenant_becomes_a_database(
    control_plane: ControlPlane, kubectl: Kubectl, world: World, customers: Customers, tmp_path: Path
) -> None:
    definitions.install_crds(control_plane, kubectl, MULTIGRES_KINDS)
    found = list(documents(ROOT / f"config/samples/tenants/{DATABASE}.yaml"))
    create_table(customers, found[0])
    with multigres_operator.running_operator(control_plane, world.namespace, tmp_path / "multigres.log"):
        world.apply(*found)
        until(
            lambda: any(is_ready(each.get("status", {})) for each in world.tenants().values()), world.tenants
        )
        [cluster] = world.all("multigresclusters")
    assert cluster["metadata"]["name"] == f"db-{DATABASE}"
    assert is_ready(cluster["status"])


@pytest.fixture
def own_namespace(kubectl: Kubectl) -> Iterator[str]:
    """The namespace of a Tenant, with a name that no other test has."""
    name = f"tenant-{secrets.token_hex(4)}"
    yield name
    namespaces.release_namespace(kubectl.server, name)


def test_a_tenant_has_a_namespace_of_its_own(
    control_plane: ControlPlane, own_namespace: str, namespace: str, kubectl: Kubectl, tmp_path: Path
) -> None:
    """The operator works in both namespaces, as one for the whole cluster does in all."""
    world, customers = World(kubectl, namespace), Customers(tmp_path)
    found = list(documents(ROOT / f"config/samples/tenants/{OWN_NAMESPACE}.yaml"))
    create_table(customers, found[0], own_namespace.removeprefix("tenant-"))
    with running_operator(control_plane, f"{namespace},{own_namespace}", tmp_path / "operator.log"):
        world.apply(*found)
        until(
            lambda: [each for each in world.tenants().values() if is_ready(each.get("status", {}))],
            world.tenants,
        )
    accounts = kubectl.json("get", "serviceaccounts", "-n", own_namespace)["items"]
    assert "app" in [each["metadata"]["name"] for each in accounts]
