"""Random values of Secrets are made once, and kept whatever becomes of row and template."""

import base64
from typing import Any

import msgspec
import pytest

from steward.tenants.api.resource import GeneratedValue
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.controllers.registry.earlier_renderings import random_value
from steward.tenants.errors import RenderError
from steward.tenants.rendering.earlier import NEW_TENANT, EarlierRendering
from steward.tenants.rendering.generated_values import ALPHABETS, keep_live_values
from steward.tenants.rendering.prepared_template import prepare_template
from steward.tenants.rendering.render import RenderedTenant, TenantIdentity, render
from steward.tenants.rendering.tenant_manifest import resource_manifests
from steward.tenants.rendering.variables import row_variables
from steward.tenants.sources.rows import Row
from tests.tenants.support.manifests import CONFIG_MAP, resource, template

SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"user": "{{ .uid }}"}}
PASSWORD = [{"key": "password"}]
RANDOM = EarlierRendering(make_value=random_value)


def rendered(earlier: EarlierRendering, spec: dict[str, Any] = SECRET, **fields: Any) -> RenderedTenant:
    resources = [resource("it", spec=spec, **{"generate": PASSWORD, **fields})]
    typed = msgspec.convert(template(configMaps=[], secrets=resources)["spec"], TenantTemplateSpec)
    variables = row_variables(Row("acme", "https://acme.example", "1", {}), "prod", "web")
    return render(prepare_template(typed), variables, TenantIdentity("acme-web", "shop"), earlier)


def after(tenant: RenderedTenant) -> EarlierRendering:
    return RANDOM._replace(payload=tenant.payload)


def data_of(tenant: RenderedTenant) -> dict[str, str]:
    encoded: dict[str, str] = msgspec.json.decode(tenant.payload.entries["it"])
    return {key: base64.b64decode(value).decode() for key, value in encoded.items()}


def test_a_new_tenant_gets_values_of_its_own() -> None:
    first, second = data_of(rendered(RANDOM)), data_of(rendered(RANDOM))
    assert first["user"] == second["user"] == "acme"
    assert len(first["password"]) == len(second["password"]) == 32
    assert first["password"] != second["password"]


def test_a_value_is_not_in_the_spec_of_the_tenant() -> None:
    made = rendered(RANDOM)
    assert data_of(made)["password"] not in str(resource_manifests(made.resources()))


@pytest.mark.parametrize(
    "change",
    [{}, {"nameTemplate": "other"}, {"generate": [{"key": "password", "length": 8, "characters": "hex"}]}],
)
def test_a_value_is_kept(change: dict[str, Any]) -> None:
    first = rendered(RANDOM)
    assert data_of(rendered(after(first), **change))["password"] == data_of(first)["password"]


def test_a_key_that_is_added_later_gets_a_value_and_one_that_is_removed_goes() -> None:
    first = rendered(RANDOM)
    more = rendered(after(first), generate=[*PASSWORD, {"key": "token"}])
    assert data_of(more)["password"] == data_of(first)["password"]
    assert len(data_of(more)["token"]) == 32
    assert set(data_of(rendered(after(more), generate=[{"key": "token"}]))) == {"user", "token"}


@pytest.mark.parametrize("characters", ["alphanumeric", "digits", "hex"])
def test_a_value_has_the_length_and_characters_that_are_asked_for(characters: Any) -> None:
    made = random_value(GeneratedValue(key="a", length=200, characters=characters))
    assert len(made) == 200
    assert set(made) <= set(ALPHABETS[characters])
    assert len(set(made)) > 5


def test_a_rendering_that_is_only_shown_has_a_placeholder() -> None:
    assert data_of(rendered(NEW_TENANT))["password"] == "(32 random characters)"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (CONFIG_MAP, "is for Secrets, and this is a ConfigMap: take it out"),
        (
            {**SECRET, "stringData": {"password": "x"}},
            "has the key 'password', which data has too: take one of them out",
        ),
    ],
)
def test_what_cannot_have_the_value_is_an_error(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(RenderError) as caught:
        rendered(RANDOM, spec)
    assert (caught.value.resource, caught.value.field, caught.value.text) == ("it", "generate", message)


@pytest.mark.parametrize(
    ("live", "taken", "data"),
    [
        ({}, (), {"user": "u", "password": "new"}),
        ({"data": {"password": "live"}}, (), {"user": "u", "password": "live"}),
        ({"data": {"password": ""}}, (), {"user": "u", "password": "new"}),
        ({"data": {"password": "live"}}, ("password",), {"user": "u"}),
        ({"data": {"user": "live"}}, ("password",), {"user": "u", "password": "new"}),
    ],
)
def test_a_value_of_the_live_secret_is_never_replaced(
    live: dict[str, Any], taken: tuple[str, ...], data: dict[str, str]
) -> None:
    manifest = {"data": {"user": "u", "password": "new"}}
    assert keep_live_values(manifest, [GeneratedValue(key="password")], live, taken)["data"] == data


def test_the_tenant_has_the_fields_as_the_template_gives_them() -> None:
    [made] = resource_manifests(rendered(RANDOM, generate=[{"key": "a", "length": 8}]).resources())
    assert made["generate"] == [{"key": "a", "length": 8}]
