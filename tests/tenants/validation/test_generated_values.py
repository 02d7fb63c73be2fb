"""`generate` is refused where no value can be made."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.problems import Problem
from steward.tenants.validation.template import validate_template
from tests.tenants.support.manifests import CONFIG_MAP, resource, template

SECRET = {"apiVersion": "v1", "kind": "Secret", "stringData": {"user": "{{ .uid }}"}}


def problems(spec: dict[str, Any], *keys: str) -> list[Problem]:
    given = resource("db", spec=spec, generate=[{"key": key} for key in keys])
    return validate_template(
        msgspec.convert(template(configMaps=[], manifests=[given])["spec"], TenantTemplateSpec)
    )


def test_a_secret_may_have_generated_keys() -> None:
    assert problems(SECRET, "password", "token") == []


@pytest.mark.parametrize(
    ("spec", "keys", "message"),
    [
        (CONFIG_MAP, ["a"], "is for Secrets"),
        ({**SECRET, "kind": "{{ .kind }}"}, ["a"], "is for Secrets"),
        ({**SECRET, "apiVersion": "example.com/v1"}, ["a"], "is for Secrets"),
        (SECRET, ["a", "a"], "has the key 'a' twice"),
        (SECRET, ["user"], "has the key 'user', which spec.stringData has too"),
        ({**SECRET, "data": {"b": ""}}, ["b"], "has the key 'b', which spec.data has too"),
    ],
)
def test_other_uses_are_problems(spec: dict[str, Any], keys: list[str], message: str) -> None:
    [found] = problems(spec, *keys)
    assert found.field == "spec.manifests[db].generate"
    assert message in found.message


@pytest.mark.parametrize(
    "value",
    [
        {"key": ""},
        {"key": "a b"},
        {"key": "a", "length": 7},
        {"key": "a", "length": 513},
        {"key": "a", "characters": "x"},
    ],
)
def test_values_out_of_bounds_do_not_fit_the_type(value: dict[str, Any]) -> None:
    given = template(configMaps=[], secrets=[resource("db", spec=SECRET, generate=[value])])
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(given["spec"], TenantTemplateSpec)
