"""The reader of each source type, and the identity of a source."""

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from steward.tenants.api.scalars import SourceType
from steward.tenants.api.source import Source, SourceBlock
from steward.tenants.errors import BadSource
from steward.tenants.guard.decision import CleanRead, clean_read
from steward.tenants.sources.conditions import ColumnCondition
from steward.tenants.sources.factory import open_reader, source_identity
from steward.tenants.sources.mysql import MySqlReader
from steward.tenants.sources.postgres import PostgresReader
from steward.tenants.sources.reader import SourceCredentials, SourceEnvironment
from steward.tenants.sources.rows import Columns, sort_rows
from steward.tenants.sources.sqlite import SqliteReader
from tests.tenants.support.manifests import MYSQL

COLUMNS = Columns("id", "url", "active")
SQLITE = {"file": "a.db", "table": "t"}


def source(kind: str, **blocks: Any) -> Source:
    return msgspec.convert({"type": kind, **blocks}, Source)


@pytest.mark.parametrize(
    ("registry_source", "expected"),
    [
        (source("mysql", mysql=MYSQL), MySqlReader),
        (source("postgres", postgres=MYSQL), PostgresReader),
        (source("sqlite", sqlite=SQLITE), SqliteReader),
    ],
)
def test_each_type_has_its_reader(registry_source: Source, expected: type) -> None:
    assert isinstance(
        open_reader(registry_source, SourceCredentials(), SourceEnvironment(Path("/"))), expected
    )


def test_a_type_without_its_block_is_an_error() -> None:
    with pytest.raises(BadSource, match=r"source\.mysql is missing"):
        open_reader(source("mysql", sqlite=SQLITE), SourceCredentials(), SourceEnvironment())


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
def test_the_identity_depends_on_the_table_and_not_on_how_it_is_read(
    changes: dict[str, Any], is_same: bool
) -> None:
    before = source_identity(source("mysql", mysql=MYSQL), COLUMNS)
    after = source_identity(source("mysql", mysql={**MYSQL, **changes}), COLUMNS)
    assert (before == after) is is_same


@pytest.mark.parametrize(
    ("registry_source", "expected"),
    [
        (source("mysql", mysql=MYSQL), ("3122ae39aa3c4194", "686fb2cebdda5f24")),
        (source("postgres", postgres=MYSQL), ("2e6abe950ca7e319", "b04ddcf233ad6b5f")),
        (source("sqlite", sqlite=SQLITE), ("80fd34c13eea75ef", "8216e7fc81005a75")),
        (source("mysql", sqlite=SQLITE), ("a03a7aa1e10e68bd", "1909b673c10c1d45")),
    ],
)
def test_an_identity_never_changes_between_versions(
    registry_source: Source, expected: tuple[str, str]
) -> None:
    with_extra = COLUMNS._replace(extra=(("plan", "plan_id"),))
    found = source_identity(registry_source, COLUMNS), source_identity(registry_source, with_extra)
    assert found == expected


NOT_IDENTITY = {"username", "password_ref", "tls", "connect_timeout", "query_timeout"}
"""How a table is read. A new field of a source is listed here, or it changes the identity."""


@pytest.mark.parametrize("block", get_args(SourceBlock))
def test_every_field_that_names_the_table_is_in_the_identity_of_its_source(block: type[Any]) -> None:
    named = set(block.__struct_fields__) - NOT_IDENTITY
    values = {name: index if name == "port" else f"value-{index}" for index, name in enumerate(named)}
    others = {"username": "reader"} if "username" in block.__struct_fields__ else {}
    assert set(values.values()) <= set(block(**values, **others).identity())


def test_every_source_type_has_a_block_with_an_identity() -> None:
    fields = {field.name: field.type for field in msgspec.structs.fields(Source)}
    for source_type in get_args(SourceType):
        block, _ = get_args(fields[source_type])
        assert block in get_args(SourceBlock)
        assert callable(block.identity)


def test_other_columns_are_another_identity() -> None:
    registry_source = source("sqlite", sqlite=SQLITE)
    assert source_identity(registry_source, COLUMNS) != source_identity(
        registry_source, Columns("id", "url", "enabled")
    )


def test_another_condition_is_another_identity() -> None:
    registry_source = source("sqlite", sqlite=SQLITE)
    found = {
        source_identity(registry_source, COLUMNS._replace(where=where))
        for where in (
            (),
            (ColumnCondition("region", ("eu",)),),
            (ColumnCondition("region", ("eu",), is_negated=True),),
            (ColumnCondition("region", ("us",)),),
        )
    }
    assert len(found) == 4


def test_rows_become_a_clean_read_of_the_guard() -> None:
    rows = sort_rows(COLUMNS, [("a", "", 1), ("b", "", 0), (None, "", 1), ("c\0", "", 1)])
    assert clean_read(rows, 7.0, "db") == CleanRead(
        7.0, "db", 4, frozenset("a"), frozenset("b"), frozenset({"c\0"}), 1
    )


def test_credentials_are_never_printed() -> None:
    assert "s3cret" not in repr(SourceCredentials("s3cret"))
