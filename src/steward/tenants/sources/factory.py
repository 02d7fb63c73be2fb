"""From what a registry says to the source that reads it."""

import hashlib
from typing import Final

import msgspec

from steward.tenants.api import source as api
from steward.tenants.api.scalars import UNSET
from steward.tenants.errors import BadSource
from steward.tenants.sources.rows import Columns
from steward.tenants.sources.source import Credentials, Source, Surroundings

_WHERE: Final = ("host", "port", "database", "file", "table")


def open_source(described: api.Source, credentials: Credentials, surroundings: Surroundings) -> Source:
    """Nothing is sent before the first read. BadSource where the block for the type is missing.

    A driver is loaded with the first source that needs it: most operators read one kind of database."""
    if described.type == "mysql" and described.mysql is not UNSET:
        from steward.tenants.sources.mysql import MySql

        return MySql(described.mysql, credentials, surroundings.redirect)
    if described.type == "postgres" and described.postgres is not UNSET:
        from steward.tenants.sources.postgres import Postgres

        return Postgres(described.postgres, credentials, surroundings.redirect)
    if described.type == "sqlite" and described.sqlite is not UNSET:
        from steward.tenants.sources.sqlite import Sqlite

        return Sqlite(described.sqlite, surroundings.sqlite_root)
    raise BadSource(
        f"source.type is {described.type}, and source.{described.type} is missing: say where the table is"
    )


def identity_of(described: api.Source, columns: Columns) -> str:
    """What is read, in one word: two reads agree with each other only if it was the same table and the same columns.

    How it is read (password, TLS, timeouts, interval) is no part of it.
    """
    block = getattr(described, described.type)
    told = "" if block is UNSET else [getattr(block, name, "") for name in _WHERE]
    whole = msgspec.json.encode([described.type, told, columns.names])
    return hashlib.sha256(whole).hexdigest()[:16]
