"""One protocol for everything that has rows.

A read is whole or it is an error: the rows come from one snapshot, in a transaction that cannot write, and only a
result that ended as the protocol says counts. Whoever reads never sees a part of a table.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from steward.tenants.sources.rows import Columns, Rows

Redirect = Callable[[str, int], tuple[str, int]]
PAUSE_EVERY = 500
"""After so many rows others get their turn: a driver that has rows in its buffer never waits by itself."""


class Source(Protocol):
    async def read(self, columns: Columns) -> Rows:
        """Every row of the table, sorted; SourceError if not all of them came."""


class Credentials(NamedTuple):
    """What the Secrets that a source names hold."""

    password: str = ""
    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        return "Credentials(...)"

    @property
    def cure(self) -> str:
        """What to do when they are denied. A Secret that was made from a file often holds more than the password."""
        doubt = " (its value ends with a line break)" if self.password.endswith("\n") else ""
        return f"check username and passwordRef{doubt}, and grant SELECT on the table"


def directly(host: str, port: int) -> tuple[str, int]:
    return host, port


class Surroundings(NamedTuple):
    """What the process gives to its sources."""

    sqlite_root: Path | None = None
    redirect: Redirect = directly
