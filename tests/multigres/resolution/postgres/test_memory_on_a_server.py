"""A real PostgreSQL server accepts the settings that follow from the memory of a pod."""

import pytest

from steward.multigres.resolution.postgres.memory import memory_settings
from steward.postgres.address import PostgresAddress
from steward.postgres.setting_values import value_problem
from steward.postgres.settings import known_settings
from tests.support.database_servers import DatabaseServer

MI = 1 << 20


@pytest.mark.parametrize("memory", [64 * MI, 100_000_000, 512 * MI, 3 << 30, 1 << 40, 1 << 62])
async def test_a_server_accepts_the_settings_of_every_size(postgres: DatabaseServer, memory: int) -> None:
    settings = memory_settings(memory, 110)
    address = PostgresAddress(postgres.host, postgres.port, postgres.user, "postgres")
    known = await known_settings(address, postgres.password, list(settings))
    assert {name: value_problem(known[name], value) for name, value in settings.items()} == dict.fromkeys(
        settings, ""
    )
    restarting = {name for name, each in known.items() if each.needs_restart}
    assert restarting == {"shared_buffers", "wal_buffers"}
