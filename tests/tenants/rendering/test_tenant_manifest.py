"""The manifests of a Tenant and of its values Secret."""

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.tenants import labels as marks
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.errors import RenderError
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import TenantIdentity, render
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.rendering.tenant_manifest import (
    ActiveTemplate,
    DesiredTenant,
    render_failure_manifest,
    tenant_manifest,
    values_manifest,
)
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import resource, template

REGISTRY = ObjectMeta(name="prod", namespace="shop", uid="r-1")
ROW = Row("acme", "https://acme.example.com", "1", {"plan": "gold"})
SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "{{ .plan }}"}}


def desired_tenant(row: Row = ROW, version: str = "v1", **spec: object) -> DesiredTenant:
    typed = msgspec.convert(template(**spec)["spec"], TenantTemplateSpec)
    return DesiredTenant(
        "acme-web-app", row, ActiveTemplate("web-app", 3, version, typed, prepare_template(typed))
    )


def rendered(each: DesiredTenant):  # type: ignore[no-untyped-def]
    variables = row_variables(each.row, "prod", "web-app")
    return render(each.template.prepared, variables, TenantIdentity(each.name, "shop"))


def test_every_default_of_the_schema_is_written_out() -> None:
    each = desired_tenant()
    manifest = tenant_manifest(each, REGISTRY, rendered(each))["spec"]["configMaps"][0]
    assert {name: value for name, value in manifest.items() if name != "spec"} == {
        "id": "config", "creationPolicy": "WhenNeeded", "deletionPolicy": "Delete", "conflictPolicy": "Stuck",
        "waitForReady": True, "timeoutSeconds": 300, "patchStrategy": "apply", "skipOnDependencyFailure": True,
    }  # fmt: skip


def test_labels_name_the_registry_and_there_is_no_owner_reference() -> None:
    each = desired_tenant(serviceAccountName="applier")
    manifest = tenant_manifest(each, REGISTRY, rendered(each))
    labels = manifest["metadata"]["labels"]
    assert (labels[marks.REGISTRY], labels[marks.UID], labels[marks.TEMPLATE]) == ("prod", "acme", "web-app")
    assert labels[marks.BUCKET].isdigit()
    assert "ownerReferences" not in manifest["metadata"]
    # No value of its row: many users may read annotations.
    assert manifest["metadata"]["annotations"] == {"kubernetes-tenants.org/template-generation": "3"}
    assert (manifest["spec"]["templateGeneration"], manifest["spec"]["serviceAccountName"]) == (3, "applier")


def test_the_payload_is_in_the_values_secret_and_its_digest_in_the_spec() -> None:
    each = desired_tenant(secrets=[resource("secret", spec=SECRET, nameTemplate="{{ .uid }}-secret")])
    found = rendered(each)
    manifest = tenant_manifest(each, REGISTRY, found)
    beside = values_manifest(ObjectMeta(name="acme-web-app", namespace="shop", uid="t-1"), found)
    assert "gold" not in str(manifest)
    assert manifest["spec"]["values"]["secretName"] == beside["metadata"]["name"] == "acme-web-app-values"
    assert SecretPayload.from_data(beside["data"]).digest == manifest["spec"]["values"]["digest"]
    assert beside["metadata"]["ownerReferences"][0]["uid"] == "t-1"


def test_a_render_failure_is_the_only_content_of_the_spec() -> None:
    error = RenderError("nameTemplate", "no such thing", 2, 7)
    error.resource = "config"
    manifest = render_failure_manifest(desired_tenant(), REGISTRY, error)["spec"]
    assert manifest["renderFailure"] == {
        "resource": "config", "field": "nameTemplate", "line": 2, "message": "no such thing", "column": 7,
    }  # fmt: skip
    assert "configMaps" not in manifest


@pytest.mark.parametrize(
    "other",
    [
        desired_tenant(ROW._replace(activate="yes")),
        desired_tenant(ROW._replace(extra={"plan": "basic"})),
        desired_tenant(version="v2"),
    ],
    ids=["column", "extra-column", "template"],
)
def test_a_change_of_row_or_template_is_another_fingerprint(other: DesiredTenant) -> None:
    assert desired_tenant().fingerprint(REGISTRY) == desired_tenant().fingerprint(REGISTRY)
    assert other.fingerprint(REGISTRY) != desired_tenant().fingerprint(REGISTRY)
