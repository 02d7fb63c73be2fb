"""Settings that follow from the memory of a server."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.compute import Pool
from steward.multigres.resolution.postgres.memory import (
    memory_settings,
    pool_memory,
    pool_settings,
)

MI, GI = 1 << 20, 1 << 30


def pool(**resources: dict[str, str]) -> Pool:
    return msgspec.convert({"postgres": resources}, Pool)


@pytest.mark.parametrize(
    ("memory", "connections", "expected"),
    [
        (64 * MI, 110, ("16MB", "48MB", "3MB", "148kB")),
        (256 * MI, 110, ("64MB", "192MB", "12MB", "595kB")),
        (512 * MI, 110, ("128MB", "384MB", "25MB", "1191kB")),
        (4 * GI, 110, ("1024MB", "3072MB", "204MB", "9532kB")),
        (4 * GI, 500, ("1024MB", "3072MB", "204MB", "2097kB")),
        (64 * GI, 110, ("16384MB", "49152MB", "1024MB", "64MB")),
        (512 * MI, 100_000, ("128MB", "384MB", "25MB", "64kB")),
        (64 * MI + 1000, 1, ("16MB", "48MB", "3MB", "16384kB")),
        (1 << 62, 110, ("262144MB", "786432MB", "1024MB", "64MB")),
    ],
)
def test_settings_by_memory(memory: int, connections: int, expected: tuple[str, ...]) -> None:
    settings = memory_settings(memory, connections)
    names = ("shared_buffers", "effective_cache_size", "maintenance_work_mem", "work_mem")
    assert tuple(settings[name] for name in names) == expected
    assert settings["wal_buffers"] == "-1"


def test_queries_of_all_connections_fit_beside_shared_buffers_and_maintenance() -> None:
    for size in range(64, 20_000, 97):
        for connections in (10, 110, 1000):
            memory = size * MI
            settings = memory_settings(memory, connections)
            work = _bytes(settings["work_mem"]) * connections
            maintenance = 3 * _bytes(settings["maintenance_work_mem"])
            is_smallest = settings["work_mem"] == "64kB"
            assert is_smallest or _bytes(settings["shared_buffers"]) + work + maintenance <= 0.66 * memory


def _bytes(text: str) -> int:
    return int(text[:-2]) * {"kB": 1024, "MB": MI}[text[-2:]]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"limits": {"memory": "1Gi"}, "requests": {"memory": "512Mi"}}, ("1Gi", "limits")),
        ({"limits": {"cpu": "1"}, "requests": {"memory": "512Mi"}}, ("512Mi", "requests")),
        ({"requests": {"cpu": "1"}}, None),
        ({}, None),
        ({"limits": {"memory": "32Mi"}}, None),
        ({"limits": {"memory": "much"}}, None),
    ],
    ids=["limit", "request", "cpu-only", "none", "too-small", "no-quantity"],
)
def test_the_limit_counts_then_the_request(resources: Any, expected: tuple[str, str] | None) -> None:
    assert pool_memory(pool(**resources)) == expected


def test_a_pool_without_a_known_memory_has_no_settings() -> None:
    assert pool_settings(Pool(), "") == {}


@pytest.mark.parametrize(
    ("written", "work_mem"),
    [
        ("", "1191kB"),
        ("max_connections = 200", "655kB"),
        ("max_connections = 100\nmax_connections = '200'", "655kB"),
        ("max_connections = 0xff", None),
    ],
    ids=["default", "written", "last-line", "another-notation"],
)
def test_work_mem_follows_max_connections(written: str, work_mem: str | None) -> None:
    assert pool_settings(pool(limits={"memory": "512Mi"}), written).get("work_mem") == work_mem


def test_a_setting_of_the_user_does_not_change_the_others_because_each_change_restarts_servers() -> None:
    four_gigabytes = pool(limits={"memory": "4Gi"})
    written = "work_mem = 8MB\nshared_buffers = 1GB"
    assert pool_settings(four_gigabytes, written) == pool_settings(four_gigabytes, "")
