"""The protocol of all table readers.

A read is complete or an error: the rows come from one snapshot, in a read-only transaction, and a result counts only
if it ended as the protocol of the database requires. A caller never gets a part of a table.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from steward.tenants.sources.limits import TABLE_BYTES
from steward.tenants.sources.rows import Columns, Rows

Redirect = Callable[[str, int], tuple[str, int]]
PAUSE_EVERY = 500
"""Rows after which the reader yields to other tasks: a driver with buffered rows never waits by itself."""


class TableReader(Protocol):
    async def read(self, columns: Columns) -> Rows:
        """Every row of the table, classified; SourceError if the read did not complete."""


class SourceCredentials(NamedTuple):
    """The contents of the Secrets that a source refers to."""

    password: str = ""
    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        return "Credentials(...)"

    @property
    def denied_cure(self) -> str:
        """The cure if they are denied. A Secret that was created from a file often has a line break at its end."""
        hint = " (its value ends with a line break)" if self.password.endswith("\n") else ""
        return f"check username and passwordRef{hint}, and grant SELECT on the table"


def no_redirect(host: str, port: int) -> tuple[str, int]:
    return host, port


class SourceEnvironment(NamedTuple):
    """Settings of the process that readers need."""

    sqlite_root: Path | None = None
    redirect: Redirect = no_redirect
    table_bytes: int = TABLE_BYTES
    """The memory that the rows of a table may take."""


DEFAULT_ENVIRONMENT: Final = SourceEnvironment()
