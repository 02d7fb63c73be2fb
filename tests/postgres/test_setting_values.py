"""Values of settings are judged as a real PostgreSQL server judges them."""

import asyncpg
import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.setting_values import KnownSetting, value_problem
from steward.postgres.settings import known_settings
from tests.support.database_servers import DatabaseServer

# Settings that can change in a session, so that the server itself can be asked about each value.
VALUES = {
    "work_mem": [
        "64",
        "64kB",
        "8MB",
        "1GB",
        "1TB",
        "1.5MB",
        "0x40",
        "0100",
        "8mb",
        "8 MB",
        " 8MB ",
        "63",
        "63kB",
        "1B",
        "64e0",
        "9999999999",
        "3TB",
        "many",
        "",
        "8MiB",
        "-1",
        "8 M B",
        "8kB8",
    ],
    "statement_timeout": ["0", "10s", "1min", "1.5h", "1d", "500us", "-1", "25d", "1w", "10kB", "s"],
    "vacuum_cost_delay": ["0", "2ms", "0.5", "100", "101", "-1", "1s", "fast"],
    "random_page_cost": ["1.1", "4", "1e3", "-1", "1kB", "low"],
    "default_statistics_target": ["1", "100", "10000", "0", "10001", "100.4", "1kB"],
    "enable_seqscan": ["on", "off", "ON", "tr", "yes", "n", "1", "0", "of", "o", "", "2", " on", "enabled"],
    "constraint_exclusion": ["partition", "Partition", "on", "true", "0", "sometimes", ""],
    "client_min_messages": ["warning", "debug", "debug5", "loud"],
    "search_path": ["public", "anything, else", ""],
}
CASES = [(name, value) for name, values in VALUES.items() for value in values]


async def _accepts(server: DatabaseServer, name: str, value: str) -> bool:
    connection = await asyncpg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, database="postgres"
    )
    try:
        await connection.fetchval("SELECT set_config($1, $2, true)", name, value)
    except asyncpg.InvalidParameterValueError:
        return False
    finally:
        await connection.close()
    return True


@pytest.mark.parametrize(("name", "value"), CASES)
async def test_a_value_is_accepted_if_the_server_accepts_it(
    postgres: DatabaseServer, name: str, value: str
) -> None:
    address = PostgresAddress(postgres.host, postgres.port, postgres.user, "postgres")
    [known] = (await known_settings(address, postgres.password, [name])).values()
    assert (value_problem(known, value) == "") is await _accepts(postgres, name, value)


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        (KnownSetting("postmaster", "integer", "8kB", "16", "1073741823"), "much", "it is not a number"),
        (
            KnownSetting("postmaster", "integer", "8kB", "16", "1073741823"),
            "128",
            "",
        ),
        (
            KnownSetting("postmaster", "integer", "8kB", "16", "1073741823"),
            "64kB",
            "it is outside of 16 to 1073741823, in 8kB",
        ),
        (
            KnownSetting("postmaster", "integer", "8kB", "16", "1073741823"),
            "1s",
            "its unit is one of B, kB, MB, GB, TB",
        ),
        (KnownSetting("postmaster", "integer", "", "1", "262143"), "100MB", "it has no unit"),
        (KnownSetting("sighup", "bool"), "maybe", "it is on or off"),
        (KnownSetting("user", "enum", choices=("a", "b")), "c", "it is one of a, b"),
        (KnownSetting("internal", "integer"), "8192", "it cannot be set"),
    ],
)
def test_a_problem_says_what_is_allowed(setting: KnownSetting, value: str, problem: str) -> None:
    assert value_problem(setting, value) == problem
