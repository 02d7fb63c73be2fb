"""Creates the reader for the source of a registry, and computes the identity of the source."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from steward.tenants.api import source as api
from steward.tenants.api.scalars import UNSET, SourceType
from steward.tenants.errors import BadSource
from steward.tenants.sources.reader import SourceCredentials, SourceEnvironment, TableReader
from steward.tenants.sources.rows import Columns


def open_reader(
    source: api.Source, credentials: SourceCredentials, environment: SourceEnvironment
) -> TableReader:
    """Connects only with the first read. BadSource where the block for the type is missing."""
    block = source.block
    if block is UNSET:
        raise BadSource(
            f"source.type is {source.type}, and source.{source.type} is missing: say where the table is"
        )
    return _OPENERS[source.type](block, credentials, environment)


# Each driver is imported with the first source that needs it: most operators read one kind of database.


def _open_mysql(
    block: api.MySqlSource, credentials: SourceCredentials, environment: SourceEnvironment
) -> TableReader:
    from steward.tenants.sources.mysql import MySqlReader

    return MySqlReader(block, credentials, environment)


def _open_postgres(
    block: api.PostgresSource, credentials: SourceCredentials, environment: SourceEnvironment
) -> TableReader:
    from steward.tenants.sources.postgres import PostgresReader

    return PostgresReader(block, credentials, environment)


def _open_sqlite(
    block: api.SqliteSource, credentials: SourceCredentials, environment: SourceEnvironment
) -> TableReader:
    from steward.tenants.sources.sqlite import SqliteReader

    return SqliteReader(block, environment)


_OPENERS: Final[Mapping[SourceType, Callable[[Any, SourceCredentials, SourceEnvironment], TableReader]]] = {
    "mysql": _open_mysql,
    "postgres": _open_postgres,
    "sqlite": _open_sqlite,
}


def source_identity(source: api.Source, columns: Columns) -> str:
    """A hash of the table, the columns and the conditions. The deletion guard compares only reads of one identity.

    How they are read (password, TLS, timeouts, interval) is not part of it.
    """
    block = source.block
    table = "" if block is UNSET else block.identity()
    where = [columns.where] if columns.where else []
    encoded = msgspec.json.encode([source.type, table, columns.names, *where])
    return hashlib.sha256(encoded).hexdigest()[:16]
