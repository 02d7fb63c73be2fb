"""How columns of each PostgreSQL type are asked for, and how what comes is spelled. Pure.

Every value comes as the server prints it. Arrays and composite values are asked for as JSON.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from steward.tenants.sources.identifiers import POSTGRES
from steward.tenants.sources.rows import Columns

Spelling = Callable[[bytes], bytes | str]

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


class Kind(NamedTuple):
    """Of which type a column is. Of a domain, the type that is at its bottom."""

    category: bytes = b""
    name: bytes = b""


def types_query(table: str) -> str:
    """By column, its type: from the catalog, since asking the table itself may take as long as reading it."""
    name = POSTGRES.table(table).replace("\\", "\\\\").replace("'", "''")
    return _TYPES.format(f"E'{name}'")


def rows_query(columns: Columns, table: str, kinds: Mapping[bytes, Kind]) -> str:
    asked = ", ".join(_asked(column, kind_of(column, kinds)) for column in columns.names)
    return f"SELECT {asked} FROM {POSTGRES.table(table)}"


def kind_of(column: str, kinds: Mapping[bytes, Kind]) -> Kind:
    """The server cuts names that are too long for it, and finds the column all the same."""
    cut = column.encode()[:_LONGEST].decode(errors="ignore")
    return kinds.get(cut.encode(), Kind())


def _asked(column: str, kind: Kind) -> str:
    quoted = POSTGRES.quoted(column, "column")
    return f"pg_catalog.to_json({quoted})" if kind.category in _NESTED else quoted


def spelling_of(kind: Kind) -> Spelling:
    return _plain if kind.category in _NESTED else _SPELLINGS.get(kind.name, _plain)


def _plain(value: bytes) -> bytes:
    return value


def _truth(value: bytes) -> str:
    return "true" if value == b"t" else "false"


def _trimmed(value: bytes) -> bytes:
    """CHAR(n): the server fills it up with spaces that mean nothing."""
    return value.rstrip(b" ")


def _binary(value: bytes) -> bytes:
    """`\\x` and hexadecimal digits."""
    return bytes.fromhex(value[2:].decode())


def _time(value: bytes) -> bytes | str:
    """RFC 3339 where it is one: not for infinity, nor before Christ."""
    found = _UTC.fullmatch(value.decode())
    return f"{found['day']}T{found['clock']}Z" if found else value


_SPELLINGS: Final[dict[bytes, Spelling]] = {
    b"bool": _truth,
    b"bpchar": _trimmed,
    b"bytea": _binary,
    b"timestamp": _time,
    b"timestamptz": _time,
}
