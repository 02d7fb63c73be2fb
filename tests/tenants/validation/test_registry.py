from typing import Any

import msgspec
import pytest

from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.rows import row_conditions
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


def where(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {"source": {"type": "mysql", "mysql": MYSQL, "where": list(conditions)}}


def test_a_condition_on_any_column_is_valid() -> None:
    texts = ["eu", "", "x' OR '1'='1", "💥", "a\nb"]
    spec = where(
        {"column": "plan id", "values": texts}, {"column": "a", "operator": "NotIn", "values": ["1"]}
    )
    assert validate_registry(typed(**spec)) == []
    assert row_conditions(typed(**spec)) == (
        ColumnCondition("plan id", tuple(texts)),
        ColumnCondition("a", ("1",), is_negated=True),
    )


@pytest.mark.parametrize(
    ("condition", "field"),
    [
        ({"column": " a", "values": ["1"]}, "column"),
        ({"column": "a\n", "values": ["1"]}, "column"),
        ({"column": "a", "values": ["1", "a\0b"]}, "values[1]"),
        ({"column": "a", "values": ["\ud800"]}, "values[0]"),
    ],
)
def test_a_condition_that_no_database_can_meet_is_a_problem(condition: dict[str, Any], field: str) -> None:
    good = {"column": "b", "values": ["1"]}
    [found] = validate_registry(typed(**where(good, condition)))
    assert found.field == f"spec.source.where[1].{field}"


def test_all_problems_are_reported_at_once() -> None:
    spec = {**mysql(host=" ", table="."), "extraValueMappings": {"x": " "}}
    assert len(validate_registry(typed(**spec))) == 3


@pytest.mark.parametrize(
    ("name", "message"), [("plan-id", "is no word"), ("host", "built-in variable .host")]
)
def test_unusual_variable_names_get_advice(name: str, message: str) -> None:
    [found] = advise_registry(typed(extraValueMappings={name: "column"}))
    assert message in found.message
