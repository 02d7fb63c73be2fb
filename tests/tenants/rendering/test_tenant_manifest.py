"""A Tenant as it is to be applied, and the Secret beside it."""

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants import labels as marks
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.rendering.render import TenantIdentity, prepare_template, render
from steward.tenants.rendering.secret_payload import Payload
from steward.tenants.rendering.tenant_manifest import (
    TemplateInUse,
    WantedTenant,
    failed_manifest,
    tenant_manifest,
    values_manifest,
)
from steward.tenants.rendering.variables import variables_of
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import resource, template

REGISTRY = ObjectMeta(name="prod", namespace="shop", uid="r-1")
ROW = Row("acme", "https://acme.example.com", "1", {"plan": "gold"})
SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "{{ .plan }}"}}


def wanted(row: Row = ROW, version: str = "v1", **spec: object) -> WantedTenant:
    typed = msgspec.convert(template(**spec)["spec"], TenantTemplateSpec)
    return WantedTenant(
        "acme-web-app", row, TemplateInUse("web-app", 3, version, typed, prepare_template(typed))
    )


def rendered(each: WantedTenant):  # type: ignore[no-untyped-def]
    variables = variables_of(each.row, "prod", "web-app")
    return render(each.template.prepared, variables, TenantIdentity(each.name, "shop"))


def test_every_default_of_the_schema_is_written_out() -> None:
    each = wanted()
    made = tenant_manifest(each, REGISTRY, rendered(each))["spec"]["configMaps"][0]
    assert {name: value for name, value in made.items() if name != "spec"} == {
        "id": "config", "creationPolicy": "WhenNeeded", "deletionPolicy": "Delete", "conflictPolicy": "Stuck",
        "waitForReady": True, "timeoutSeconds": 300, "patchStrategy": "apply", "skipOnDependencyFailure": True,
    }  # fmt: skip


def test_it_says_whose_it_is_by_labels_and_has_no_owner() -> None:
    each = wanted(serviceAccountName="applier")
    made = tenant_manifest(each, REGISTRY, rendered(each))
    labels = made["metadata"]["labels"]
    assert (labels[marks.REGISTRY], labels[marks.UID], labels[marks.TEMPLATE]) == ("prod", "acme", "web-app")
    assert labels[marks.BUCKET].isdigit()
    assert "ownerReferences" not in made["metadata"]
    # And nothing of its row: annotations are read by many.
    assert made["metadata"]["annotations"] == {"kubernetes-tenants.org/template-generation": "3"}
    assert (made["spec"]["templateGeneration"], made["spec"]["serviceAccountName"]) == (3, "applier")


def test_the_payload_of_secrets_is_beside_it_under_its_digest() -> None:
    each = wanted(secrets=[resource("secret", spec=SECRET, nameTemplate="{{ .uid }}-secret")])
    found = rendered(each)
    made = tenant_manifest(each, REGISTRY, found)
    beside = values_manifest(ObjectMeta(name="acme-web-app", namespace="shop", uid="t-1"), found)
    assert "gold" not in str(made)
    assert made["spec"]["values"]["secretName"] == beside["metadata"]["name"] == "acme-web-app-values"
    assert Payload.from_data(beside["data"]).digest == made["spec"]["values"]["digest"]
    assert beside["metadata"]["ownerReferences"][0]["uid"] == "t-1"


def test_a_failed_rendering_is_told_and_nothing_else() -> None:
    error = RenderError("nameTemplate", "no such thing", 2, 7)
    error.resource = "config"
    made = failed_manifest(wanted(), REGISTRY, error)["spec"]
    assert made["renderFailure"] == {
        "resource": "config", "field": "nameTemplate", "line": 2, "message": "no such thing", "column": 7,
    }  # fmt: skip
    assert "configMaps" not in made


@pytest.mark.parametrize(
    "other",
    [
        wanted(ROW._replace(activate="yes")),
        wanted(ROW._replace(extra={"plan": "basic"})),
        wanted(version="v2"),
    ],
    ids=["column", "extra-column", "template"],
)
def test_a_change_of_row_or_template_is_another_fingerprint(other: WantedTenant) -> None:
    assert wanted().fingerprint(REGISTRY) == wanted().fingerprint(REGISTRY)
    assert other.fingerprint(REGISTRY) != wanted().fingerprint(REGISTRY)
