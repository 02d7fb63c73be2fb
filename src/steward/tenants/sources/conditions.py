"""Conditions on the rows of a table, as SQL. Pure.

A condition compares the text of a column with given values, byte by byte, so that every database gives the same answer
whatever its collation; NULL is the empty text, as in templates. No text of a user becomes part of a statement: names
are quoted, and values are written as hexadecimal digits, or for SQLite, which knows no escapes, in quotes.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from steward.tenants.sources.identifiers import BACKTICK, DOUBLE_QUOTE, Dialect


class ColumnCondition(NamedTuple):
    column: str
    values: tuple[str, ...]
    is_negated: bool = False
    """Whether the rows with other values are read."""


class SqlText(NamedTuple):
    """How a database compares texts byte by byte."""

    column: str
    """The expression for the text of a column, with `{}` for its quoted name."""
    literal: Callable[[str], str]


class ConditionDialect(NamedTuple):
    names: Dialect
    texts: SqlText

    def select(self, columns: Iterable[str], table: str, where: Iterable[ColumnCondition] = ()) -> str:
        return self.names.select(columns, table) + self.clause(where)

    def clause(self, where: Iterable[ColumnCondition]) -> str:
        """` WHERE …`; empty without a condition."""
        found = " AND ".join(map(self._condition, where))
        return f" WHERE {found}" if found else ""

    def _condition(self, condition: ColumnCondition) -> str:
        text = self.texts.column.format(self.names.quoted(condition.column, "column"))
        values = ", ".join(map(self.texts.literal, condition.values))
        return f"{text} {'NOT IN' if condition.is_negated else 'IN'} ({values})"


def _hex(value: str) -> str:
    return value.encode().hex()


def _in_quotes(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


MYSQL: Final = ConditionDialect(
    Dialect(BACKTICK),
    SqlText("CAST(COALESCE(CONVERT({} USING utf8mb4), '') AS BINARY)", lambda value: f"X'{_hex(value)}'"),
)
POSTGRES: Final = ConditionDialect(
    Dialect(DOUBLE_QUOTE),
    SqlText(
        "pg_catalog.convert_to(COALESCE(CAST({} AS pg_catalog.text), ''), 'UTF8')",
        lambda value: f"pg_catalog.decode('{_hex(value)}', 'hex')",
    ),
)
# An unknown name in double quotes would be a string: see `identifiers`.
SQLITE: Final = ConditionDialect(
    Dialect(BACKTICK), SqlText("CAST(COALESCE({}, '') AS TEXT) COLLATE BINARY", _in_quotes)
)
