"""Decides which rows can become Tenants, and rejects the others with a reason. Pure.

A rejected row is present: its Tenant is neither changed nor deleted. Rows with the same uid are all rejected, because
it is unknown which of them is meant. No row can keep the others from becoming Tenants: one that is too large or
unreadable is rejected alone. A table that is far larger than any fleet is not read to its end: a registry that names
the wrong table must not use up the memory of the process.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UID_LENGTH, UNSET
from steward.tenants.errors import BrokenRead
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.limits import ROW_BYTES, TABLE_BYTES
from steward.tenants.sources.values import UnreadableValue, is_active, to_text

SHOWN_UID: Final = 60
KEPT_UID: Final = UID_LENGTH + 1
"""Characters of a rejected uid that are kept. One that is cut is still too long, and equals no valid one."""
NO_UID: Final = ""
_ROW_BYTES: Final = 300
"""The memory of an active row without its texts: a tuple, and its place in a dict."""
_OTHER_BYTES: Final = 120
_LONG_UID: Final = f"its uid is longer than {UID_LENGTH} bytes: shorten it"
_TOO_LARGE: Final = (
    f"its values have more than {ROW_BYTES} bytes together: shorten them, or read a view without them"
)


class Columns(NamedTuple):
    """The columns to read: the three of every table, then the extra ones, ordered by variable; and of which rows."""

    uid: str
    host_or_url: str
    activate: str
    extra: tuple[tuple[str, str], ...] = ()
    """Variables and their columns."""
    where: tuple[ColumnCondition, ...] = ()
    """The rows to read: those that meet all conditions."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.uid, self.host_or_url, self.activate, *(column for _, column in self.extra))


class Row(NamedTuple):
    uid: str
    host_or_url: str
    activate: str
    extra: Mapping[str, str]


class RowRejection(NamedTuple):
    uid: str
    """Empty if it cannot be read."""
    reason: str

    @property
    def shown(self) -> str:
        """The uid for messages: short and printable."""
        text = "".join(letter if letter.isprintable() else "\ufffd" for letter in self.uid)
        return text if len(text) <= SHOWN_UID else f"{text[:SHOWN_UID]}…"


class Rows(NamedTuple):
    """All rows of a table, classified; `total` counts every row."""

    total: int
    active: tuple[Row, ...]
    inactive: frozenset[str]
    rejected: tuple[RowRejection, ...]


def rows_digest(rows: Rows) -> bytes:
    """A digest of all rows, computed row by row to keep no second copy of a large table."""
    digest = blake2b(digest_size=16)
    for part in (rows.total, *rows.active, *sorted(rows.inactive), *rows.rejected):
        digest.update(msgspec.json.encode(part))
    return digest.digest()


def registry_columns(spec: TenantRegistrySpec) -> Columns:
    mappings = spec.value_mappings
    extra = {} if spec.extra_value_mappings is UNSET else spec.extra_value_mappings
    required = mappings.uid, mappings.host_or_url, mappings.activate
    return Columns(*required, tuple(sorted(extra.items())), row_conditions(spec))


def row_conditions(spec: TenantRegistrySpec) -> tuple[ColumnCondition, ...]:
    where = () if spec.source.where is UNSET else spec.source.where
    return tuple(ColumnCondition(each.column, tuple(each.values), each.operator == "NotIn") for each in where)


def uid_problem(value: Any) -> str:
    """The problem of a uid; empty if it is valid."""
    if value is None:
        return "its uid is NULL: give the row a uid"
    if isinstance(value, str | bytes) and len(value) > UID_LENGTH:
        return _LONG_UID
    text = to_text(value)
    if not text.strip():
        return "its uid is empty: give the row a uid"
    if "\0" in text:
        return "its uid holds a NUL character: take it out"
    return _LONG_UID if len(text.encode()) > UID_LENGTH else ""


class RowSorter:
    """Classifies rows as they arrive, so that a table is in memory only once."""

    def __init__(self, columns: Columns, max_bytes: int = TABLE_BYTES) -> None:
        self._columns = columns
        self._max_bytes = max_bytes
        self._count = 0
        self._bytes = 0
        self._active: dict[str, Row] = {}
        self._inactive: set[str] = set()
        self._rejected: list[RowRejection] = []
        self._repeated: dict[str, int] = {}

    def add(self, values: Sequence[Any]) -> None:
        """Adds a row, with its values in the order of the columns; BrokenRead if the table is too large."""
        self._add(self._read(values))

    def add_too_large(self, uid: Any) -> None:
        """Adds a row of which only the uid was kept, because it is too large."""
        self._add(_reject(uid, _TOO_LARGE))

    def _add(self, row: Row | RowRejection) -> None:
        self._count += 1
        self._count_bytes(row)
        if isinstance(row, RowRejection):
            self._rejected.append(row)
        elif row.uid in self._repeated:
            self._repeated[row.uid] += 1
        elif row.uid in self._active or row.uid in self._inactive:
            self._add_duplicate(row.uid)
        elif is_active(row.activate):
            self._active[row.uid] = row
        else:
            self._inactive.add(row.uid)

    def _count_bytes(self, row: Row | RowRejection) -> None:
        self._bytes += row_bytes(row)
        if self._bytes > self._max_bytes:
            size = f"its first {self._count} rows take {self._max_bytes >> 20} MiB"
            raise BrokenRead(
                f"the table is too large for tenants, {size}: read a view of fewer rows or columns"
            )

    def _read(self, values: Sequence[Any]) -> Row | RowRejection:
        if sum(map(_value_bytes, values)) > ROW_BYTES:
            return _reject(values[0], _TOO_LARGE)
        try:
            texts = list(map(to_text, values))
        except UnreadableValue:
            return _reject(values[0], "; ".join(self._unreadable_columns(values)))
        if uid_problem(values[0]):
            return _reject(values[0], "")
        extra = {variable: text for (variable, _), text in zip(self._columns.extra, texts[3:], strict=True)}
        return Row(texts[0], texts[1], texts[2], extra)

    def _unreadable_columns(self, values: Sequence[Any]) -> Iterator[str]:
        for column, value in zip(self._columns.names, values, strict=True):
            try:
                to_text(value)
            except UnreadableValue as error:
                yield f"its column {column} {error}: correct it"

    def _add_duplicate(self, uid: str) -> None:
        self._active.pop(uid, None)
        self._inactive.discard(uid)
        self._repeated[uid] = 2

    def rows(self) -> Rows:
        duplicates = (
            RowRejection(uid, f"{count} rows have this uid: leave one of them")
            for uid, count in self._repeated.items()
        )
        unreadable = {row.uid for row in self._rejected} - {NO_UID}
        return Rows(
            self._count,
            tuple(row for row in self._active.values() if row.uid not in unreadable),
            frozenset(self._inactive - unreadable),
            (*self._rejected, *duplicates),
        )


def _reject(uid: Any, problem: str) -> RowRejection:
    """Rejects a row, by its uid if that can be read. A problem of the uid comes first."""
    try:
        problem = uid_problem(uid) or problem
        return RowRejection(_kept_uid(uid), problem)
    except UnreadableValue as error:
        return RowRejection(NO_UID, f"its uid {error}: correct it")


def _kept_uid(uid: Any) -> str:
    if isinstance(uid, bytes):
        return uid[: 4 * KEPT_UID].decode(errors="replace")[:KEPT_UID]
    return to_text(uid)[:KEPT_UID]


def _value_bytes(value: Any) -> int:
    """Of texts and bytes: values of other types are small."""
    return len(value) if isinstance(value, str | bytes) else 0


def row_bytes(row: Row | RowRejection) -> int:
    """The memory that is kept of a row."""
    if isinstance(row, RowRejection):
        return _OTHER_BYTES + _text_bytes(row.uid) + _text_bytes(row.reason)
    if not is_active(row.activate):
        return _OTHER_BYTES + _text_bytes(row.uid)
    texts = (row.uid, row.host_or_url, row.activate, *row.extra.values())
    return _ROW_BYTES + sys.getsizeof(row.extra) + sum(map(_text_bytes, texts))


def _text_bytes(text: str) -> int:
    """A character that is not ASCII takes up to four bytes, and once more its bytes in UTF-8 when it is encoded."""
    size = sys.getsizeof(text)
    return size if text.isascii() else size + len(text.encode())


def sort_rows(columns: Columns, values: Iterable[Sequence[Any]]) -> Rows:
    sorter = RowSorter(columns)
    for row in values:
        sorter.add(row)
    return sorter.rows()
