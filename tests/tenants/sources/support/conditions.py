"""Values that a condition must compare exactly, and rows with them, for every database."""

from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.rows import Columns, Rows

VALUES = (
    "eu",
    "EU",
    "eu ",
    " eu",
    "e%",
    "_u",
    "",
    "1",
    "01",
    "'",
    "''",
    '"',
    "`",
    "\\",
    "\\'",
    "x' OR '1'='1",
    "x'); DROP TABLE customers; --",
    "{}",
    "{0}",
    "$1",
    "?",
    "é",
    "e\u0301",
    "💥",
    "a\nb",
    "a\tb",
)
"""Row `n` has the n-th of them in the column `plan id`; one more row, `null`, has NULL."""


def uids(value: str) -> set[str]:
    return {str(VALUES.index(value))} | ({"null"} if value == "" else set())


def columns(*conditions: ColumnCondition) -> Columns:
    return Columns("id", "url", "active", (), conditions)


def read_uids(rows: Rows) -> set[str]:
    assert rows.rejected == ()
    return {row.uid for row in rows.active}
