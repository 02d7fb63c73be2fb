from typing import Any

import msgspec
import pytest

from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.validation.registry import advise_registry, validate_registry
from tests.tenants.support.manifests import MYSQL, registry


def typed(**spec: Any) -> TenantRegistrySpec:
    return msgspec.convert(registry(**spec)["spec"], TenantRegistrySpec, strict=False)


def mysql(**fields: Any) -> dict[str, Any]:
    return {"source": {"type": "mysql", "mysql": {**MYSQL, **fields}}}


def test_a_sound_registry_has_no_problems() -> None:
    assert validate_registry(typed(extraValueMappings={"planId": "plan id"})) == []
    assert advise_registry(typed(extraValueMappings={"planId": "plan id"})) == []


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"source": {"type": "mysql"}}, "spec.source.mysql"),
        ({"source": {"type": "sqlite", "mysql": MYSQL}}, "spec.source.sqlite"),
        (mysql(host=" "), "spec.source.mysql.host"),
        (mysql(database=" "), "spec.source.mysql.database"),
        (mysql(username=" "), "spec.source.mysql.username"),
        (mysql(table="a.b.c"), "spec.source.mysql.table"),
        (mysql(table=" t"), "spec.source.mysql.table"),
        ({"valueMappings": {"uid": " ", "hostOrUrl": "u", "activate": "a"}}, "spec.valueMappings.uid"),
        (
            {"valueMappings": {"uid": "i", "hostOrUrl": "a\0", "activate": "a"}},
            "spec.valueMappings.hostOrUrl",
        ),
        ({"extraValueMappings": {"x": "a\nb"}}, "spec.extraValueMappings.x"),
    ],
)
def test_what_cannot_be_read_is_named(spec: dict[str, Any], field: str) -> None:
    assert [problem.field for problem in validate_registry(typed(**spec))] == [field]


def test_all_problems_are_told_at_once() -> None:
    spec = {**mysql(host=" ", table="."), "extraValueMappings": {"x": " "}}
    assert len(validate_registry(typed(**spec))) == 3


@pytest.mark.parametrize(("name", "told"), [("plan-id", "is no word"), ("host", "built-in variable .host")])
def test_names_of_variables_are_advised_on(name: str, told: str) -> None:
    [found] = advise_registry(typed(extraValueMappings={name: "column"}))
    assert told in found.message
