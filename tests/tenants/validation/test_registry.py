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


def test_a_valid_registry_has_no_problems() -> None:
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
def test_a_problem_names_its_field(spec: dict[str, Any], field: str) -> None:
    assert [problem.field for problem in validate_registry(typed(**spec))] == [field]


def test_all_problems_are_reported_at_once() -> None:
    spec = {**mysql(host=" ", table="."), "extraValueMappings": {"x": " "}}
    assert len(validate_registry(typed(**spec))) == 3


@pytest.mark.parametrize(
    ("name", "message"), [("plan-id", "is no word"), ("host", "built-in variable .host")]
)
def test_unusual_variable_names_get_advice(name: str, message: str) -> None:
    [found] = advise_registry(typed(extraValueMappings={name: "column"}))
    assert message in found.message
