"""From an object to what made it."""

from typing import Any

import pytest

from steward.cli.operations.object_origin import (
    OriginStep,
    detail_of,
    is_made_by_steward,
    kept_by,
    matching_kinds,
    parent_of,
    part_of,
    tenant_steps,
    writers,
)
from steward.kube.client.discovery import Resource
from steward.kube.objects.kinds import DEPLOYMENT, Key, Kind, Ref

MULTIGRES = "multigres.com/v1alpha1"
TENANTS = "operator.kubernetes-tenants.org/v1"
TENANT_LABELS = {
    "kubernetes-tenants.org/tenant": "acme-web",
    "kubernetes-tenants.org/tenant-namespace": "saas",
}


def live(kind: str, name: str, api_version: str = "apps/v1", **meta: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop", **meta},
        "spec": {},
    }


def owner(kind: str, name: str, api_version: str = "apps/v1") -> list[dict[str, Any]]:
    return [{"apiVersion": api_version, "kind": kind, "name": name, "controller": True}]


def test_the_labels_of_a_tenant_lead_into_its_namespace() -> None:
    found = parent_of(live("Deployment", "web", labels=TENANT_LABELS))
    assert found == OriginStep(Ref(Kind(TENANTS, "Tenant"), Key("saas", "acme-web")))


def test_another_object_leads_to_its_controller() -> None:
    found = parent_of(live("Pod", "web-1", "v1", ownerReferences=owner("ReplicaSet", "web")))
    assert found == OriginStep(Ref(Kind("apps/v1", "ReplicaSet"), Key("shop", "web")))


def test_a_claim_that_outlives_its_server_leads_to_the_cluster_of_its_label() -> None:
    claim = live("PersistentVolumeClaim", "pgdata-0", "v1", labels={"multigres.com/cluster": "db"})
    assert parent_of(claim) == OriginStep(
        Ref(Kind(MULTIGRES, "MultigresCluster"), Key("shop", "db")), "named by its label"
    )


def test_a_foreign_object_has_no_parent() -> None:
    assert parent_of(live("ConfigMap", "mine", "v1")) is None
    assert parent_of(live("ConfigMap", "mine", "v1", ownerReferences=[{"kind": "Node", "name": "n"}])) is None


def test_a_tenant_names_its_template_and_its_row() -> None:
    tenant = live("Tenant", "acme-web", TENANTS, labels={"kubernetes-tenants.org/registry": "customers"})
    tenant["spec"] = {"uid": "acme", "templateRef": "web", "templateGeneration": 3}
    assert [step.describe() for step in tenant_steps(tenant)] == [
        "TenantTemplate shop/web: generation 3",
        "TenantRegistry shop/customers: row acme",
    ]


def test_an_object_of_a_tenant_is_named_by_its_resource_in_the_template() -> None:
    child = live("Deployment", "web", labels=TENANT_LABELS)
    tenant = live("Tenant", "acme-web", TENANTS)
    applied = {"kind": "Deployment", "namespace": "shop", "name": "web", "id": "app"}
    tenant["status"] = {"applied": [{**applied, "kind": "Service", "id": "other"}, applied]}
    step = OriginStep(Ref(Kind(TENANTS, "Tenant"), Key("saas", "acme-web")))
    assert detail_of(step, child, tenant) == "resource app of its template"


def test_parts_of_a_cluster_are_named_as_its_spec_names_them() -> None:
    shard = live("Shard", "db-x", MULTIGRES)
    shard["spec"] = {"databaseName": "postgres", "tableGroupName": "default", "shardName": "0-inf"}
    assert part_of(shard) == "spec.databases[postgres].tablegroups[default].shards[0-inf]"
    server = live("Pod", "pg-0", "v1", labels={"multigres.com/pool": "main", "multigres.com/cell": "z1"})
    assert part_of(server) == "pool main in cell z1"


def test_writers_are_the_managers_of_the_spec_without_the_operators() -> None:
    fields = {"f:spec": {}}
    managed = [
        {"manager": "argocd-controller", "fieldsV1": fields},
        {"manager": "multigres-operator", "fieldsV1": fields},
        {"manager": "labeller", "fieldsV1": {"f:metadata": {}}},
        {"manager": "status-writer", "fieldsV1": fields, "subresource": "status"},
    ]
    assert writers(live("MultigresCluster", "db", MULTIGRES, managedFields=managed)) == ["argocd-controller"]


def test_an_object_that_a_tenant_left_behind_says_so() -> None:
    notes = {
        "kubernetes-tenants.org/orphaned-at": "2026-01-01T00:00:00Z",
        "kubernetes-tenants.org/orphaned-reason": "TenantDeleted",
    }
    kept = live("Service", "web", "v1", labels={"kubernetes-tenants.org/orphaned": "true"}, annotations=notes)
    assert kept_by(kept) == "kept after a Tenant of namespace shop (TenantDeleted, 2026-01-01T00:00:00Z)"
    assert kept_by(live("Service", "web", "v1")) == ""


def test_only_a_chain_with_a_tenant_or_a_cluster_is_of_steward() -> None:
    deployment = OriginStep(Ref(DEPLOYMENT, Key("shop", "web")))
    cluster = OriginStep(Ref(Kind(MULTIGRES, "MultigresCluster"), Key("shop", "db")))
    assert not is_made_by_steward([deployment])
    assert is_made_by_steward([deployment, cluster])


def resource(plural: str, group: str = "", *short: str) -> Resource:
    return Resource(
        group=group,
        version="v1",
        plural=plural,
        namespaced=True,
        verbs=frozenset(),
        short_names=frozenset(short),
    )


SERVED = {
    Kind("v1", "Service"): resource("services"),
    Kind("networking.k8s.io/v1", "Ingress"): resource("ingresses", "networking.k8s.io", "ing"),
    Kind("serving.knative.dev/v1", "Service"): resource("services", "serving.knative.dev"),
}


@pytest.mark.parametrize(
    ("word", "groups"),
    [
        ("service", ["serving.knative.dev", ""]),
        ("services.serving.knative.dev", ["serving.knative.dev"]),
        ("ingresses", ["networking.k8s.io"]),
        ("Ingress", ["networking.k8s.io"]),
        ("ing", ["networking.k8s.io"]),
        ("widgets", []),
    ],
)
def test_a_kind_is_found_by_its_names_and_its_group(word: str, groups: list[str]) -> None:
    assert [kind.group for kind in matching_kinds(word, SERVED)] == groups
