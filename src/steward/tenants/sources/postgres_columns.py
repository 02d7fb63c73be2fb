"""How columns of each PostgreSQL type are selected, and how their values are converted. Pure.

Values are received as the server prints them. Arrays and composite values are selected as JSON.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from steward.tenants.sources.conditions import POSTGRES as CONDITIONS
from steward.tenants.sources.identifiers import POSTGRES
from steward.tenants.sources.rows import Columns

ValueFormat = Callable[[bytes], bytes | str]

_LONGEST: Final = 63
_NESTED: Final = frozenset({b"A", b"C"})
"""Categories: arrays and composite types."""
_UTC: Final = re.compile(r"(?P<day>\d+-\d\d-\d\d) (?P<clock>\d\d:\d\d:\d\d(\.\d+)?)(\+00)?", re.ASCII)
_TYPES: Final = """WITH RECURSIVE found (attname, category, typname, below) AS (
 SELECT a.attname, t.typcategory, t.typname, t.typbasetype
 FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = {}::pg_catalog.regclass AND NOT a.attisdropped
 UNION ALL
 SELECT f.attname, t.typcategory, t.typname, t.typbasetype
 FROM found f JOIN pg_catalog.pg_type t ON t.oid = f.below
) SELECT attname, category, typname FROM found WHERE below = 0"""


class ColumnType(NamedTuple):
    """The type of a column; for a domain, its base type."""

    category: bytes = b""
    name: bytes = b""


def types_query(table: str) -> str:
    """Selects the type of each column from the catalog: querying the table itself may take as long as reading it."""
    name = POSTGRES.table(table).replace("\\", "\\\\").replace("'", "''")
    return _TYPES.format(f"E'{name}'")


def rows_query(columns: Columns, table: str, kinds: Mapping[bytes, ColumnType]) -> str:
    selected = ", ".join(_select_expression(column, column_type(column, kinds)) for column in columns.names)
    return f"SELECT {selected} FROM {POSTGRES.table(table)}{CONDITIONS.clause(columns.where)}"


def column_type(column: str, kinds: Mapping[bytes, ColumnType]) -> ColumnType:
    """The server truncates names that are too long, and still finds the column."""
    cut = column.encode()[:_LONGEST].decode(errors="ignore")
    return kinds.get(cut.encode(), ColumnType())


def _select_expression(column: str, kind: ColumnType) -> str:
    quoted = POSTGRES.quoted(column, "column")
    return f"pg_catalog.to_json({quoted})" if kind.category in _NESTED else quoted


def value_format(kind: ColumnType) -> ValueFormat:
    return _unchanged if kind.category in _NESTED else _FORMATS.get(kind.name, _unchanged)


def _unchanged(value: bytes) -> bytes:
    return value


def _boolean(value: bytes) -> str:
    return "true" if value == b"t" else "false"


def _trimmed(value: bytes) -> bytes:
    """CHAR(n): the server pads it with spaces."""
    return value.rstrip(b" ")


def _binary(value: bytes) -> bytes:
    """`\\x` and hexadecimal digits."""
    return bytes.fromhex(value[2:].decode())


def _time(value: bytes) -> bytes | str:
    """RFC 3339 where possible: not for infinity and not before the year 1."""
    found = _UTC.fullmatch(value.decode())
    return f"{found['day']}T{found['clock']}Z" if found else value


_FORMATS: Final[dict[bytes, ValueFormat]] = {
    b"bool": _boolean,
    b"bpchar": _trimmed,
    b"bytea": _binary,
    b"timestamp": _time,
    b"timestamptz": _time,
}
