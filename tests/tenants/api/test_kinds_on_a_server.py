"""The three kinds on a real API server: accepted objects, defaults, and rejections."""

import json
from typing import Any

import msgspec
import pytest

from steward.kube.crd.schema import CustomKind, definition
from steward.tenants.api.kinds import CUSTOM_KINDS
from steward.tenants.api.lists import LISTS, field_name
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.api.tenant import TenantSpec
from tests.support.kubectl import Kubectl
from tests.tenants.support.manifests import MYSQL, Manifest, registry, resource, template, tenant

SQLITE = {"file": "customers.db", "table": "customers"}
HOW = [["apply", "--validate=strict"], ["apply", "--server-side", "--validate=strict"], ["create"]]


@pytest.mark.parametrize("custom", CUSTOM_KINDS, ids=lambda custom: custom.kind)
def test_a_definition_fits_into_the_annotation_of_client_side_apply(custom: CustomKind) -> None:
    assert len(json.dumps(definition(custom))) < 250_000


@pytest.mark.parametrize("custom", CUSTOM_KINDS, ids=lambda custom: custom.kind)
def test_every_field_has_a_description(custom: CustomKind) -> None:
    schema = definition(custom)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert list(undescribed(schema["properties"]["spec"], "spec")) == []
    assert list(undescribed(schema["properties"]["status"], "status")) == []


def undescribed(schema: Manifest, path: str) -> Any:
    if not schema.get("description") and not path.endswith(("[]", "{}")):
        yield path
    for name, field in schema.get("properties", {}).items():
        yield from undescribed(field, f"{path}.{name}")
    if "items" in schema:
        yield from undescribed(schema["items"], f"{path}[]")


@pytest.mark.parametrize("spec", [TenantTemplateSpec, TenantSpec], ids=lambda spec: spec.__name__)
def test_a_spec_has_all_sixteen_lists(spec: type[msgspec.Struct]) -> None:
    fields = {field.name: field.encode_name for field in msgspec.structs.fields(spec)}
    assert {attribute: fields.get(attribute) for attribute, _ in LISTS} == {
        attribute: field_name(attribute) for attribute, _ in LISTS
    }
    assert len(LISTS) == 16


@pytest.mark.parametrize("how", HOW, ids=" ".join)
@pytest.mark.parametrize("document", [registry(), template(), tenant()], ids=lambda found: found["kind"])
def test_the_samples_of_the_design_are_accepted(
    kubectl: Kubectl, namespace: str, document: Manifest, how: list[str]
) -> None:
    kubectl(*how, "-n", namespace, "-f", "-", document=document)


def test_defaults_are_those_of_the_design(kubectl: Kubectl, namespace: str) -> None:
    source = {"type": "mysql", "mysql": MYSQL}
    kubectl("create", "-n", namespace, "-f", "-", document=registry(source=source, deletionGuard={}))
    kubectl("create", "-n", namespace, "-f", "-", document=template(rollout={}))
    made = kubectl.json("get", "-n", namespace, "tenantregistries", "prod")["spec"]
    assert made["source"]["syncInterval"] == "30s"
    assert made["source"]["mysql"]["port"] == 3306
    assert made["deletionGuard"] == {"maxPercent": 30, "gracePeriod": "0s"}
    spec = kubectl.json("get", "-n", namespace, "tenanttemplates", "web-app")["spec"]
    assert spec["rollout"] == {"maxSkew": 0, "progressDeadlineSeconds": 600}
    assert spec["configMaps"][0] == {
        **resource(),
        "creationPolicy": "WhenNeeded",
        "deletionPolicy": "Delete",
        "conflictPolicy": "Stuck",
        "patchStrategy": "apply",
        "waitForReady": True,
        "timeoutSeconds": 300,
        "skipOnDependencyFailure": True,
    }


def test_a_tenant_without_a_status_is_not_observed(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-n", namespace, "-f", "-", document=tenant())
    (made,) = kubectl.json("get", "-n", namespace, "tenants")["items"]
    assert made["status"] == {"observedGeneration": -1}


def test_a_body_keeps_unknown_fields(kubectl: Kubectl, namespace: str) -> None:
    body = {"apiVersion": "x.example/v1", "kind": "Thing", "spec": {"deep": [{"unknown": None, "n": 1.5}]}}
    kubectl("create", "-n", namespace, "-f", "-", document=template(manifests=[resource("thing", spec=body)]))
    made = kubectl.json("get", "-n", namespace, "tenanttemplates", "web-app")
    assert made["spec"]["manifests"][0]["spec"] == body


def test_every_field_of_a_resource_is_kept(kubectl: Kubectl, namespace: str) -> None:
    whole = resource(
        "config",
        dependIds=["other"],
        creationPolicy="Once",
        deletionPolicy="Retain",
        conflictPolicy="Force",
        targetNamespace="{{ .uid }}",
        labelsTemplate={"a": "{{ .uid }}"},
        annotationsTemplate={"b": "{{ .uid }}"},
        when='{{ eq .plan "gold" }}',
        readyWhen="{{ .status.ready }}",
        waitForReady=False,
        timeoutSeconds=1,
        patchStrategy="replace",
        ignoreFields=["$.data.a"],
        skipOnDependencyFailure=False,
    )
    kubectl("create", "-n", namespace, "-f", "-", document=template(configMaps=[whole]))
    assert (
        kubectl.json("get", "-n", namespace, "tenanttemplates", "web-app")["spec"]["configMaps"][0] == whole
    )


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (registry(source={"type": "mysql"}), "type mysql needs the block mysql, and no other"),
        (
            registry(source={"type": "mysql", "mysql": MYSQL, "sqlite": SQLITE}),
            "type mysql needs the block mysql, and no other",
        ),
        (registry(source={"type": "sqlite", "mysql": MYSQL}), "type sqlite needs the block sqlite"),
        (
            registry(source={"type": "oracle", "mysql": MYSQL}),
            'supported values: "mysql", "postgres", "sqlite"',
        ),
        (
            registry(source={"type": "sqlite", "sqlite": SQLITE, "syncInterval": "1d"}),
            "spec.source.syncInterval",
        ),
        (registry(valueMappings={"uid": "id", "activate": "a"}), "spec.valueMappings.hostOrUrl: Required"),
        (registry(valueMappings={"uid": "", "hostOrUrl": "u", "activate": "a"}), "spec.valueMappings.uid"),
        (registry(deletionGuard={"maxPercent": 101}), "spec.deletionGuard.maxPercent"),
        (
            registry(
                source={"type": "mysql", "mysql": {**MYSQL, "tls": {"caRef": {"name": "a", "key": "b"}}}}
            ),
            "caRef is only used by verify-ca and verify-full",
        ),
        (registry(source={"type": "mysql", "mysql": {**MYSQL, "port": 0}}), "spec.source.mysql.port"),
        (template(configMaps=[resource(), resource()]), "Duplicate value"),
        (template(configMaps=[resource(timeoutSeconds=3601)]), "timeoutSeconds"),
        (template(configMaps=[resource(creationPolicy="Never")]), 'supported values: "Once", "WhenNeeded"'),
        (template(configMaps=[resource(patchStrategy="json")]), 'supported values: "apply", "merge"'),
        (template(rollout={"progressDeadlineSeconds": 59}), "progressDeadlineSeconds"),
        (tenant(uid=None), "spec.uid"),
    ],
)
def test_invalid_objects_are_rejected(
    kubectl: Kubectl, namespace: str, document: Manifest, expected: str
) -> None:
    message = kubectl.expect_rejection("create", "-n", namespace, "-f", "-", document=document)
    assert expected in message


def test_a_template_stays_with_its_registry(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-n", namespace, "-f", "-", document=template())
    patch = json.dumps({"spec": {"registryId": "other"}})
    message = kubectl.expect_rejection(
        "patch", "-n", namespace, "tenanttemplate", "web-app", "--type=merge", "-p", patch
    )
    assert "registryId cannot change" in message


@pytest.mark.parametrize(
    ("plural", "columns"),
    [
        ("tenantregistries", "NAME TEMPLATES DESIRED READY FAILED CONDITIONS AGE"),
        ("tenanttemplates", "NAME REGISTRY TOTAL READY ROLLOUT UPDATING APPLIED AGE"),
        ("tenants", "NAME UID TEMPLATE READY DESIRED SKIPPED CONFLICTED CONDITIONS AGE"),
    ],
)
def test_kubectl_get_shows_what_dashboards_read(
    kubectl: Kubectl, namespace: str, plural: str, columns: str
) -> None:
    for document in (registry(), template(), tenant()):
        kubectl("create", "-n", namespace, "-f", "-", document=document)
    head = kubectl("get", "-n", namespace, plural).splitlines()[0]
    assert head.split() == columns.split()
