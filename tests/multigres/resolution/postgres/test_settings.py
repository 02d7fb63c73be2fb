"""Postgres settings of a spec."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.postgres import PostgresOptions
from steward.multigres.resolution.postgres.settings import (
    changed_settings,
    inline_settings,
    restart_digest,
    restart_text,
    setting_names,
    setting_problems,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity
from tests.multigres.support.typed_templates import templates


def options(**settings: Any) -> PostgresOptions:
    return msgspec.convert({"settings": settings}, PostgresOptions)


def test_settings_are_written_in_order_and_quoted() -> None:
    written = inline_settings(options(work_mem="8MB", log_line_prefix="it's \\ %m", max_connections=200))
    assert written == "log_line_prefix = 'it''s \\\\ %m'\nmax_connections = '200'\nwork_mem = '8MB'\n"


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"work_mem": "8MB"}, []),
        ({"port": 1}, ["port"]),
        ({"synchronous_standby_names": "*"}, ["synchronous_standby_names"]),
        ({"search_path": "a\nport = 1"}, ["search_path"]),
    ],
    ids=["allowed", "managed", "replication", "second-line"],
)
def test_settings_that_would_break_multigres_are_problems(settings: Any, names: list[str]) -> None:
    assert [name for name, _ in setting_problems(options(**settings))] == names


@pytest.mark.parametrize(
    ("before", "after", "is_restart"),
    [
        ("work_mem = 8MB", "work_mem = 16MB", False),
        ("work_mem = 8MB", "", False),
        ("shared_buffers = 1GB", "shared_buffers = 2GB", True),
        ("shared_buffers = 1GB", "# a comment\nSHARED_BUFFERS 1GB  # another", False),
        ("shared_buffers = 1GB\nshared_buffers = 2GB", "shared_buffers = 2GB", False),
        ("", "pg_stat_statements.max = 1000", True),
        ("", "include = 'other.conf'", True),
    ],
    ids=["reloaded", "reset", "restart", "same-in-other-words", "last-line-wins", "extension", "included"],
)
def test_servers_restart_only_for_settings_that_need_it(before: str, after: str, is_restart: bool) -> None:
    assert (restart_text(before) != restart_text(after)) is is_restart


def test_a_digest_is_empty_without_settings_that_need_a_restart() -> None:
    assert restart_digest(None) == restart_digest("") == restart_digest("work_mem = 8MB") == ""
    assert restart_digest("shared_buffers = 1GB") != restart_digest("shared_buffers = 2GB")


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("work_mem = 8MB", "# less\nWORK_MEM '8MB'", []),
        ("work_mem = 8MB\njit = on", "jit = off\nfsync = on", ["fsync", "jit", "work_mem"]),
    ],
)
def test_changed_settings_are_those_with_another_value(before: str, after: str, changed: list[str]) -> None:
    assert changed_settings(before, after) == changed


def test_names_are_those_that_postgres_must_know() -> None:
    text = "Work_Mem = 8MB\n# port = 1\npg_stat_statements.max = 5\ninclude 'x'\nfsync on"
    assert setting_names(text) == ["fsync", "work_mem"]


def test_an_override_replaces_single_settings_of_a_template() -> None:
    template = {"postgres": {"settings": {"work_mem": "4MB", "jit": "off"}}}
    shard = {"name": "0-inf", "overrides": {"postgres": {"settings": {"work_mem": "8MB"}}}}
    group = {"name": "default", "default": True, "shards": [shard]}
    spec = msgspec.convert(
        {
            "cells": [{"zone": "a"}],
            "databases": [{"name": "postgres", "default": True, "tablegroups": [group]}],
        },
        MultigresClusterSpec,
    )
    resolved = resolve(ClusterIdentity("ns", "c"), spec, templates(shard={"default": template}))
    [located] = resolved.shards()
    assert inline_settings(located.shard.postgres) == "jit = 'off'\nwork_mem = '8MB'\n"
