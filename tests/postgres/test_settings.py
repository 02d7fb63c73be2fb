"""Settings in a file that a real PostgreSQL server includes."""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.sessions import PostgresFailure
from steward.postgres.setting_values import KnownSetting
from steward.postgres.settings import SettingsState, current_numbers, known_settings, load_settings
from tests.support.database_servers import DatabaseServer


class IncludedFile:
    """A file in the data directory that the server includes. A setting of its own tells whether it was read."""

    def __init__(self, server: DatabaseServer, connection: Any, directory: str) -> None:
        self.server = server
        self.connection = connection
        self.path = Path(directory) / f"{secrets.token_hex(4)}.conf"
        self.address = PostgresAddress(server.host, server.port, server.user, "postgres")

    async def load(self, text: str) -> SettingsState:
        return await load_settings(self.address, self.server.password, str(self.path), text)

    async def marker(self) -> str:
        """Waits until a reload has taken effect in this session."""
        return str(await self.connection.fetchval("SELECT current_setting('steward.marker', true)"))


@pytest.fixture
async def included(postgres: DatabaseServer) -> AsyncIterator[IncludedFile]:
    connection = await asyncpg.connect(
        host=postgres.host,
        port=postgres.port,
        user=postgres.user,
        password=postgres.password,
        database="postgres",
    )
    directory = await connection.fetchval("SELECT current_setting('data_directory')")
    file = IncludedFile(postgres, connection, directory)
    main = Path(directory) / "postgresql.conf"
    before = main.read_text()
    main.write_text(f"{before}\ninclude_if_exists = '{file.path}'\n")
    yield file
    main.write_text(before)
    file.path.unlink(missing_ok=True)
    await connection.fetchval("SELECT pg_reload_conf()")
    await connection.close()


async def until(included: IncludedFile, value: str) -> None:
    while await included.marker() != value:
        await included.connection.fetchval("SELECT pg_sleep(0.05)")


async def test_a_file_that_has_not_arrived_is_not_current(included: IncludedFile) -> None:
    assert await included.load("work_mem = '8MB'\n") == SettingsState(is_current=False)
    included.path.write_text("work_mem = '4MB'\n")
    assert await included.load("work_mem = '8MB'\n") == SettingsState(is_current=False)


async def test_a_changed_file_is_read_without_a_restart(included: IncludedFile) -> None:
    for value in ("first", "second"):
        text = f"steward.marker = '{value}'\n"
        included.path.write_text(text)
        assert await included.load(text) == SettingsState(is_current=True)
        await until(included, value)


async def test_a_value_that_postgres_does_not_accept_is_reported_in_its_words(
    included: IncludedFile,
) -> None:
    text = "work_mem = 'much'\n"
    included.path.write_text(text)
    state = await included.load(text)
    assert state == SettingsState(True, ("work_mem: setting could not be applied",))


async def test_a_setting_that_needs_a_restart_is_pending_and_no_problem(included: IncludedFile) -> None:
    text = "Max_Worker_Processes = '77'\nwork_mem = '5MB'\n"
    included.path.write_text(text)
    assert await included.load(text) == SettingsState(is_current=True, pending=("max_worker_processes",))


async def test_a_change_that_was_taken_back_is_not_pending(included: IncludedFile) -> None:
    for text, pending in (("max_locks_per_transaction = '77'\n", True), ("work_mem = '5MB'\n", False)):
        included.path.write_text(text)
        state = await included.load(text)
        assert (state.pending == ("max_locks_per_transaction",)) is pending
        assert state.problems == ()


async def test_a_value_that_postgres_chooses_itself_is_not_pending(included: IncludedFile) -> None:
    text = "wal_buffers = '-1'\n"
    included.path.write_text(text)
    assert await included.load(text) == SettingsState(is_current=True)


async def test_an_invalid_value_is_a_problem_also_if_it_needs_a_restart(included: IncludedFile) -> None:
    text = "shared_buffers = 'much'\nmax_worker_processes = '77'\n"
    included.path.write_text(text)
    state = await included.load(text)
    assert state.problems == ("shared_buffers: setting could not be applied",)
    assert state.pending == ("max_worker_processes",)


async def test_a_file_that_the_server_does_not_include_is_reported(included: IncludedFile) -> None:
    other = included.path.with_suffix(".other")
    other.write_text("work_mem = '8MB'\n")
    try:
        state = await load_settings(
            included.address, included.server.password, str(other), "work_mem = '8MB'\n"
        )
        assert not state.is_included
        other.write_text("# nothing\n")
        state = await load_settings(included.address, included.server.password, str(other), "# nothing\n")
        assert state.is_included, "nothing is missing"
    finally:
        other.unlink()


async def test_the_server_says_what_it_knows_of_settings(included: IncludedFile) -> None:
    names = ["work_mem", "wrok_mem", "max_connections", "timezone", "wal_level", "block_size"]
    known = await known_settings(included.address, included.server.password, names)
    assert sorted(known) == ["block_size", "max_connections", "timezone", "wal_level", "work_mem"]
    assert known["work_mem"] == KnownSetting("user", "integer", "kB", "64", "2147483647")
    assert {name for name, each in known.items() if each.needs_restart} == {"max_connections", "wal_level"}
    assert "logical" in known["wal_level"].choices
    assert known["block_size"].context == "internal"


async def test_a_rejected_password_is_a_failure(included: IncludedFile) -> None:
    with pytest.raises(PostgresFailure, match="does not accept"):
        await known_settings(included.address, "wrong", [])


async def test_the_server_says_with_which_numbers_it_runs(included: IncludedFile) -> None:
    password = included.server.password
    assert await current_numbers(included.address, password, ["max_connections", "max_wal_senders"]) == {
        "max_connections": 200,
        "max_wal_senders": 10,
    }
    with pytest.raises(PostgresFailure, match="does not list max_sessions"):
        await current_numbers(included.address, password, ["max_connections", "max_sessions"])
    with pytest.raises(PostgresFailure, match="does not list its settings"):
        await current_numbers(included.address, password, ["log_directory"])
