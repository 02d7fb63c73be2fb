"""From what a registry says to the source that reads it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from steward.tenants.api.source import Source
from steward.tenants.errors import BadSource
from steward.tenants.guard.judge import CleanRead, read_of
from steward.tenants.sources.factory import identity_of, open_source
from steward.tenants.sources.mysql import MySql
from steward.tenants.sources.postgres import Postgres
from steward.tenants.sources.rows import Columns, sort_rows
from steward.tenants.sources.source import Credentials, Surroundings
from steward.tenants.sources.sqlite import Sqlite
from tests.tenants.support.manifests import MYSQL

COLUMNS = Columns("id", "url", "active")
SQLITE = {"file": "a.db", "table": "t"}


def source(kind: str, **blocks: Any) -> Source:
    return msgspec.convert({"type": kind, **blocks}, Source)


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        (source("mysql", mysql=MYSQL), MySql),
        (source("postgres", postgres=MYSQL), Postgres),
        (source("sqlite", sqlite=SQLITE), Sqlite),
    ],
)
def test_a_type_has_its_source(described: Source, expected: type) -> None:
    assert isinstance(open_source(described, Credentials(), Surroundings(Path("/"))), expected)


def test_a_type_without_its_block_is_an_error() -> None:
    with pytest.raises(BadSource, match=r"source\.mysql is missing"):
        open_source(source("mysql", sqlite=SQLITE), Credentials(), Surroundings())


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"queryTimeout": "5s"}, True),
        ({"passwordRef": {"name": "other", "key": "k"}}, True),
        ({"tls": {"mode": "require"}}, True),
        ({"host": "db2"}, False),
        ({"port": 3307}, False),
        ({"database": "other"}, False),
        ({"table": "other"}, False),
    ],
)
def test_a_source_is_what_is_read_and_not_how(changes: dict[str, Any], is_same: bool) -> None:
    before = identity_of(source("mysql", mysql=MYSQL), COLUMNS)
    after = identity_of(source("mysql", mysql={**MYSQL, **changes}), COLUMNS)
    assert (before == after) is is_same


def test_other_columns_are_another_source() -> None:
    described = source("sqlite", sqlite=SQLITE)
    assert identity_of(described, COLUMNS) != identity_of(described, Columns("id", "url", "enabled"))


def test_rows_become_what_the_guard_judges() -> None:
    rows = sort_rows(COLUMNS, [("a", "", 1), ("b", "", 0), (None, "", 1), ("c\0", "", 1)])
    assert read_of(rows, 7.0, "db") == CleanRead(
        7.0, "db", 4, frozenset("a"), frozenset("b"), frozenset({"c\0"}), 1
    )


def test_credentials_are_never_printed() -> None:
    assert "s3cret" not in repr(Credentials("s3cret"))
