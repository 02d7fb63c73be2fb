"""Objects with random values are rendered once if they are created once."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.rendering.earlier import NEW_TENANT, EarlierRendering
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import RenderedTenant, TenantIdentity, render
from steward.tenants.rendering.secret_payload import SecretPayload
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import resource, template

RANDOM = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"id": "{{ uuidv4 }}"}}
PASSWORD = {"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "{{ randAlphaNum 20 }}"}}


def rendered(
    earlier: EarlierRendering = NEW_TENANT, spec: dict[str, Any] = RANDOM, uid: str = "acme", **fields: Any
) -> RenderedTenant:
    resources = [resource("it", spec=spec, **{"creationPolicy": "Once", **fields})]
    typed = msgspec.convert(template(configMaps=[], manifests=resources)["spec"], TenantTemplateSpec)
    variables = row_variables(Row(uid, "https://acme.example", "1", {}), "prod", "web")
    return render(prepare_template(typed, "full"), variables, TenantIdentity("acme-web", "shop"), earlier)


def earlier_of(tenant: RenderedTenant, is_of_this_version: bool = True) -> EarlierRendering:
    bodies = {each.id: each.spec for each in tenant.resources()}
    return EarlierRendering(bodies, tenant.payload, is_of_this_version)


@pytest.mark.parametrize("spec", [RANDOM, PASSWORD])
@pytest.mark.parametrize("is_of_this_version", [True, False])
def test_an_object_that_is_created_once_is_rendered_once(
    spec: dict[str, Any], is_of_this_version: bool
) -> None:
    first = rendered(spec=spec)
    assert rendered(earlier_of(first, is_of_this_version), spec) == first


def test_any_other_object_is_rendered_each_time() -> None:
    first = rendered(creationPolicy="WhenNeeded")
    assert rendered(earlier_of(first), creationPolicy="WhenNeeded") != first


def test_an_object_of_another_name_is_rendered_anew() -> None:
    first = rendered()
    [changed] = rendered(earlier_of(first), uid="other").resources()
    assert changed.spec["metadata"]["name"] == "other-config"
    assert changed.spec["data"] != first.resources()[0].spec["data"]


def test_a_random_name_is_kept_until_the_template_is_edited() -> None:
    name = "{{ .uid }}-{{ randAlphaNum 9 | lower }}"
    first = rendered(nameTemplate=name)
    assert rendered(earlier_of(first), nameTemplate=name) == first
    assert rendered(earlier_of(first, is_of_this_version=False), nameTemplate=name) != first


def test_a_secret_whose_payload_was_lost_is_rendered_anew() -> None:
    first = rendered(spec=PASSWORD)
    lost = earlier_of(first)._replace(payload=SecretPayload())
    assert rendered(lost, PASSWORD).payload.digest != first.payload.digest


def test_an_object_without_random_values_follows_its_template() -> None:
    first = rendered(spec={**RANDOM, "data": {"id": "1"}})
    [changed] = rendered(earlier_of(first), {**RANDOM, "data": {"id": "2"}}).resources()
    assert changed.spec["data"] == {"id": "2"}


def test_policies_are_those_of_the_template_now() -> None:
    first = rendered()
    [changed] = rendered(earlier_of(first), deletionPolicy="Retain").resources()
    assert changed.deletion_policy == "Retain"
    assert changed.spec["data"] == first.resources()[0].spec["data"]
