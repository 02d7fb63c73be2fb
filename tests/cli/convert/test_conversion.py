"""Which objects are translated, which pass, and which are left out."""

from typing import Any

import msgspec
import pytest

from steward.cli.convert.conversion import convert
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec

LYNQ = "operator.lynq.sh/v1"
TENANTS = "operator.kubernetes-tenants.org/v1"
MYSQL = {"host": "db", "username": "u", "database": "d", "table": "users"}
HUB = {
    "source": {"type": "mysql", "syncInterval": "1m", "mysql": MYSQL},
    "valueMappings": {"uid": "id", "activate": "active"},
}
FORM = {
    "hubId": "crm",
    "rollout": {"maxSkew": 5},
    "configMaps": [
        {
            "id": "settings",
            "nameTemplate": "{{ .uid }}",
            "spec": {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "data": {"hub": "{{ .hubId }}", "n": "{{ int .n }}"},
            },
        }
    ],
}


def lynq(kind: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": LYNQ, "kind": kind, "metadata": {"name": "crm", **metadata}, "spec": spec}


def test_a_hub_becomes_a_registry() -> None:
    result = convert(lynq("LynqHub", HUB, namespace="shop"))
    [registry] = result.manifests
    assert (registry["apiVersion"], registry["kind"]) == (TENANTS, "TenantRegistry")
    assert registry["metadata"] == {"name": "crm", "namespace": "shop"}
    msgspec.convert(registry["spec"], TenantRegistrySpec)
    assert registry["spec"]["source"] == HUB["source"]
    assert registry["spec"]["valueMappings"] == {"uid": "id", "activate": "active", "hostOrUrl": "id"}
    assert [(note.effect, note.field) for note in result.notes] == [("check", "spec.valueMappings.hostOrUrl")]


def test_a_form_becomes_a_template_with_the_same_resources() -> None:
    result = convert(lynq("LynqForm", FORM))
    [template] = result.manifests
    assert (template["apiVersion"], template["kind"]) == (TENANTS, "TenantTemplate")
    msgspec.convert(template["spec"], TenantTemplateSpec)
    assert template["spec"] == {
        "registryId": "crm",
        "rollout": FORM["rollout"],
        "configMaps": FORM["configMaps"],
    }
    assert result.notes == ()


def test_a_text_that_names_marks_of_lynq_is_worth_a_check() -> None:
    resource = {"id": "job", "spec": {"metadata": {"labels": {"lynq.sh/node": "x"}}}}
    result = convert(lynq("LynqForm", {"hubId": "crm", "jobs": [resource]}))
    assert [(note.effect, note.field) for note in result.notes] == [("check", "spec.jobs[job]")]


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        (LYNQ, "LynqNode"),
        (TENANTS, "Tenant"),
        *(("multigres.com/v1alpha1", kind) for kind in ("TopoServer", "Cell", "TableGroup", "Shard")),
    ],
)
def test_objects_that_an_operator_makes_are_left_out(version: str, kind: str) -> None:
    result = convert({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "spec": {}})
    assert result.manifests == ()
    assert [note.message for note in result.notes] == ["left out: the operator makes it again"]


@pytest.mark.parametrize(
    "manifest",
    [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "password"},
            "data": {"password": "eA=="},
        },
        {"apiVersion": "other.example.com/v1", "kind": "Shard", "spec": {"x": 1}},
        {"apiVersion": LYNQ, "kind": "Unknown"},
        {},
    ],
)
def test_other_objects_pass_unchanged(manifest: dict[str, Any]) -> None:
    assert convert(manifest) == ((manifest,), ())


def test_what_a_server_and_the_other_operator_wrote_is_removed() -> None:
    metadata = {
        "uid": "u",
        "resourceVersion": "7",
        "managedFields": [{}],
        "finalizers": ["lynq.sh/hub"],
        "labels": {"team": "crm"},
        "annotations": {"lynq.sh/x": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    manifest = {**lynq("LynqHub", HUB, **metadata), "status": {"desired": 3}}
    result = convert(manifest)
    assert result.manifests[0]["metadata"] == {"name": "crm", "labels": {"team": "crm"}}
    assert "status" not in result.manifests[0]
    assert ("lost", "metadata.annotations.lynq.sh/x") in [(note.effect, note.field) for note in result.notes]


def test_the_given_manifest_is_not_changed() -> None:
    form = lynq("LynqForm", {"hubId": "crm"}, annotations={"lynq.sh/x": "1"})
    convert(form)
    assert form == lynq("LynqForm", {"hubId": "crm"}, annotations={"lynq.sh/x": "1"})


@pytest.mark.parametrize(
    ("metadata", "noted"), [({"uid": "u1"}, True), ({}, False)], ids=["read from a server", "a file"]
)
def test_the_restarts_of_a_running_cluster_are_announced(metadata: dict[str, str], noted: bool) -> None:
    manifest = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "shop", **metadata},
        "spec": {"cells": [{"name": "z1", "zone": "z1"}], "pvcDeletionPolicy": {"whenDeleted": "Retain"}},
    }
    result = convert(manifest)
    assert [note.field for note in result.notes] == (["spec"] if noted else [])
    assert all("each of its pods is replaced once" in note.message for note in result.notes)
