"""Names of tables and columns: validated and quoted, never inserted as they are. Pure."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from steward.tenants.errors import BadSource

MAX_LENGTH: Final = 128
BACKTICK: Final = "`"
DOUBLE_QUOTE: Final = '"'


class Dialect(NamedTuple):
    quote: str

    def quoted(self, name: str, field: str) -> str:
        check_identifier(name, field)
        return f"{self.quote}{name.replace(self.quote, self.quote * 2)}{self.quote}"

    def table(self, name: str) -> str:
        """`name` or `schema.name`, with each part quoted."""
        parts = name.split(".")
        if len(parts) > 2:
            raise BadSource(f"table {name[:MAX_LENGTH]!r} has {len(parts)} parts: write name or schema.name")
        return ".".join(self.quoted(part, "table") for part in parts)

    def select(self, columns: Iterable[str], table: str) -> str:
        listed = ", ".join(self.quoted(column, "column") for column in columns)
        return f"SELECT {listed} FROM {self.table(table)}"


# SQLite reads an unknown name in double quotes as a string; in backticks it is an error, as required here.
MYSQL: Final = Dialect(BACKTICK)
SQLITE: Final = Dialect(BACKTICK)
POSTGRES: Final = Dialect(DOUBLE_QUOTE)


def check_identifier(name: str, field: str) -> None:
    if not name or name != name.strip():
        raise BadSource(
            f"{field} {name[:MAX_LENGTH]!r} is empty or has blanks around it: write the bare name"
        )
    if len(name) > MAX_LENGTH:
        raise BadSource(
            f"{field} {name[:20]!r}… is longer than {MAX_LENGTH} characters: no database has such names"
        )
    if not name.isprintable():
        raise BadSource(f"{field} {name!r} holds characters that cannot be printed: correct the name")
