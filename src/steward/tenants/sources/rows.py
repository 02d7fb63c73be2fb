"""Which rows become Tenants, and which cannot: by name, with the reason, and without harm to the others.

A rejected row is there: its Tenant is neither changed nor gone. Two rows of one uid are both rejected, since nobody can
tell which of them is meant. A table that is far larger than any fleet is none of tenants, and is not read to its end:
whoever points a registry at the wrong one takes no memory from the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.scalars import UID_LENGTH, UNSET
from steward.tenants.errors import BrokenRead
from steward.tenants.sources.values import UnreadableValue, is_active, text_of

SHOWN_UID: Final = 60
MOST_BYTES: Final = 256 * 1024 * 1024
"""What a table may take in memory, about: 400,000 active rows, or five times as many that are not."""
_ACTIVE_BYTES: Final = 600
_OTHER_BYTES: Final = 120
NAMELESS: Final = ""


class Columns(NamedTuple):
    """Which columns to read: those of every tenant, then the extra ones by the name of their variable."""

    uid: str
    host_or_url: str
    activate: str
    extra: tuple[tuple[str, str], ...] = ()
    """Variables and their columns."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.uid, self.host_or_url, self.activate, *(column for _, column in self.extra))


class Row(NamedTuple):
    uid: str
    host_or_url: str
    activate: str
    extra: Mapping[str, str]


class Rejected(NamedTuple):
    uid: str
    """None that is known when it is empty."""
    reason: str

    @property
    def shown(self) -> str:
        """The uid for people: short and printable."""
        text = "".join(letter if letter.isprintable() else "\ufffd" for letter in self.uid)
        return text if len(text) <= SHOWN_UID else f"{text[:SHOWN_UID]}…"


class Rows(NamedTuple):
    """A whole table, sorted; `total` counts every row."""

    total: int
    active: tuple[Row, ...]
    inactive: frozenset[str]
    rejected: tuple[Rejected, ...]


def digest_of(rows: Rows) -> bytes:
    """Of all that was read, row by row: a large table is not spelled out a second time."""
    digest = blake2b(digest_size=16)
    for part in (rows.total, *rows.active, *sorted(rows.inactive), *rows.rejected):
        digest.update(msgspec.json.encode(part))
    return digest.digest()


def columns_of(spec: TenantRegistrySpec) -> Columns:
    mapped = spec.value_mappings
    extra = {} if spec.extra_value_mappings is UNSET else spec.extra_value_mappings
    return Columns(mapped.uid, mapped.host_or_url, mapped.activate, tuple(sorted(extra.items())))


def uid_problem(value: Any) -> str:
    """What is wrong with a uid; empty when nothing is."""
    if value is None:
        return "its uid is NULL: give the row a uid"
    text = text_of(value)
    if not text.strip():
        return "its uid is empty: give the row a uid"
    if "\0" in text:
        return "its uid holds a NUL character: take it out"
    if len(text.encode(errors="surrogatepass")) > UID_LENGTH:
        return f"its uid is longer than {UID_LENGTH} bytes: shorten it"
    return ""


class Sorter:
    """Sorts rows as they arrive, so that a table is never held twice."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._count = 0
        self._bytes = 0
        self._found: dict[str, Row] = {}
        self._inactive: set[str] = set()
        self._rejected: list[Rejected] = []
        self._repeated: dict[str, int] = {}

    def add(self, values: Sequence[Any]) -> None:
        """One row, with its values in the order of the columns; BrokenRead when there are too many."""
        self._count += 1
        row = self._read(values)
        self._weigh(row)
        if isinstance(row, Rejected):
            self._rejected.append(row)
        elif row.uid in self._repeated:
            self._repeated[row.uid] += 1
        elif row.uid in self._found or row.uid in self._inactive:
            self._repeat(row.uid)
        elif is_active(row.activate):
            self._found[row.uid] = row
        else:
            self._inactive.add(row.uid)

    def _weigh(self, row: Row | Rejected) -> None:
        self._bytes += _OTHER_BYTES + len(row.uid)
        if isinstance(row, Row) and is_active(row.activate):
            self._bytes += _ACTIVE_BYTES + len(row.host_or_url) + sum(map(len, row.extra.values()))
        if self._bytes > MOST_BYTES:
            told = f"its first {self._count} rows take {MOST_BYTES >> 20} MiB"
            raise BrokenRead(
                f"the table is too large for tenants, {told}: read a view of fewer rows or columns"
            )

    def _read(self, values: Sequence[Any]) -> Row | Rejected:
        try:
            texts = list(map(text_of, values))
        except UnreadableValue:
            return self._spoiled(values)
        if problem := uid_problem(values[0]):
            return Rejected(texts[0], problem)
        extra = {variable: text for (variable, _), text in zip(self._columns.extra, texts[3:], strict=True)}
        return Row(texts[0], texts[1], texts[2], extra)

    def _spoiled(self, values: Sequence[Any]) -> Rejected:
        """By its uid, if at least that can be read."""
        try:
            problem = uid_problem(values[0])
        except UnreadableValue as error:
            return Rejected(NAMELESS, f"its uid {error}: correct it")
        return Rejected(text_of(values[0]), problem or "; ".join(self._unreadable(values)))

    def _unreadable(self, values: Sequence[Any]) -> Iterator[str]:
        for column, value in zip(self._columns.names, values, strict=True):
            try:
                text_of(value)
            except UnreadableValue as error:
                yield f"its column {column} {error}: correct it"

    def _repeat(self, uid: str) -> None:
        self._found.pop(uid, None)
        self._inactive.discard(uid)
        self._repeated[uid] = 2

    def sorted(self) -> Rows:
        twice = (
            Rejected(uid, f"{count} rows have this uid: leave one of them")
            for uid, count in self._repeated.items()
        )
        spoiled = {row.uid for row in self._rejected} - {NAMELESS}
        return Rows(
            self._count,
            tuple(row for row in self._found.values() if row.uid not in spoiled),
            frozenset(self._inactive - spoiled),
            (*self._rejected, *twice),
        )


def sort_rows(columns: Columns, values: Iterable[Sequence[Any]]) -> Rows:
    sorter = Sorter(columns)
    for row in values:
        sorter.add(row)
    return sorter.sorted()
