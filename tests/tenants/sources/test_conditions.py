"""Conditions as SQL: nothing that a user writes is part of a statement as it is."""

import pytest

from steward.tenants.errors import BadSource
from steward.tenants.sources.conditions import MYSQL, POSTGRES, SQLITE, ColumnCondition, ConditionDialect

EVIL = "x'); DROP TABLE customers; --"


@pytest.mark.parametrize(
    ("dialect", "clause"),
    [
        (MYSQL, "CAST(COALESCE(CONVERT(`r` USING utf8mb4), '') AS BINARY) IN (X'6575', X'')"),
        (
            POSTGRES,
            "pg_catalog.convert_to(COALESCE(CAST(\"r\" AS pg_catalog.text), ''), 'UTF8') IN "
            "(pg_catalog.decode('6575', 'hex'), pg_catalog.decode('', 'hex'))",
        ),
        (SQLITE, "CAST(COALESCE(`r`, '') AS TEXT) COLLATE BINARY IN ('eu', '')"),
    ],
    ids=["mysql", "postgres", "sqlite"],
)
def test_a_condition_compares_texts(dialect: ConditionDialect, clause: str) -> None:
    assert dialect.clause([ColumnCondition("r", ("eu", ""))]) == f" WHERE {clause}"


def test_all_conditions_have_to_be_met() -> None:
    found = SQLITE.select(
        ["id"], "customers", [ColumnCondition("a", ("1",)), ColumnCondition("b", ("2",), is_negated=True)]
    )
    assert found == (
        "SELECT `id` FROM `customers` WHERE CAST(COALESCE(`a`, '') AS TEXT) COLLATE BINARY IN ('1') "
        "AND CAST(COALESCE(`b`, '') AS TEXT) COLLATE BINARY NOT IN ('2')"
    )


def test_without_a_condition_every_row_is_read() -> None:
    assert MYSQL.select(["id"], "customers") == "SELECT `id` FROM `customers`"


@pytest.mark.parametrize("dialect", [MYSQL, POSTGRES])
def test_a_value_is_only_digits(dialect: ConditionDialect) -> None:
    assert "DROP" not in dialect.clause([ColumnCondition("r", (EVIL,))])


def test_a_quote_in_a_value_ends_nothing_in_sqlite() -> None:
    assert "('x''); DROP TABLE customers; --')" in SQLITE.clause([ColumnCondition("r", (EVIL,))])


@pytest.mark.parametrize("dialect", [MYSQL, POSTGRES, SQLITE])
@pytest.mark.parametrize("column", ["", " a", "a\0", "x" * 129])
def test_an_invalid_column_is_rejected(dialect: ConditionDialect, column: str) -> None:
    with pytest.raises(BadSource, match="column"):
        dialect.clause([ColumnCondition(column, ("a",))])
