"""Settings that a standby must not have lower than its primary: raised, never lowered."""

import pytest

from steward.multigres.rollout.postgres_settings import (
    ConfigDecision,
    LoweredSetting,
    decide_config,
    lowered_settings,
    parse_settings,
)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("max_connections = 150", 150),
        ("max_connections=150", 150),
        ("max_connections 150", 150),
        ("\tMax_Connections\t=\t150 # many", 150),
        ("max_connections = '150'", 150),
        ("max_connections '150'# quoted", 150),
        ("max_connections = ' 150 '", 150),
        ("max_connections = 0x96", 150),
        ("max_connections = 0226", 150),
        ("max_connections = 149.6", 150),
        ("max_connections = 1.5e2", 150),
        ("max_connections = 120\nmax_connections = 150", 150),
        ("max_connections = 150\r\nshared_buffers = 1GB", 150),
    ],
)
def test_a_setting_is_read_as_postgres_reads_it(line: str, value: int) -> None:
    assert parse_settings(line) == {"max_connections": value}


@pytest.mark.parametrize(
    "line",
    [
        "# max_connections = 150",
        "  #max_connections = 150",
        "max_connections",
        "max_connections =",
        "max_connections = many",
        "max_connections_total = 150",
        "my.max_connections = 150",
        "log_line_prefix = 'max_connections = 150'",
        "max_connections = '150",
        "",
    ],
)
def test_what_sets_no_such_setting_is_ignored(line: str) -> None:
    assert parse_settings(line) == {}


@pytest.mark.parametrize(
    ("before", "after", "lowered"),
    [
        ("max_connections = 150", "max_connections = 120", [LoweredSetting("max_connections", 150, 120)]),
        ("max_connections = 150", "max_connections = 150", []),
        ("max_connections = 150", "max_connections = 200", []),
        ("max_connections = 150", "", [LoweredSetting("max_connections", 150, 110)]),
        ("", "max_connections = 100", [LoweredSetting("max_connections", 110, 100)]),
        ("max_connections = 80", "", []),
        ("max_wal_senders = 30", "max_wal_senders = 26", [LoweredSetting("max_wal_senders", 30, 26)]),
        (
            "max_prepared_transactions = 5\nmax_locks_per_transaction = 128\nmax_worker_processes = 8",
            "",
            [
                LoweredSetting("max_worker_processes", 8, 6),
                LoweredSetting("max_prepared_transactions", 5, 0),
                LoweredSetting("max_locks_per_transaction", 128, 64),
            ],
        ),
        ("work_mem = 64MB", "work_mem = 4MB", []),
    ],
)
def test_a_removed_line_means_the_default(before: str, after: str, lowered: list[LoweredSetting]) -> None:
    assert lowered_settings(before, after) == lowered


HIGH, LOW = "max_connections = 150", "max_connections = 120"


@pytest.mark.parametrize(
    ("current", "desired"),
    [(None, LOW), (LOW, HIGH), ("max_connections = 90", None), (None, None)],
    ids=["first", "raised", "no longer referred to", "none"],
)
def test_settings_that_are_not_lowered_are_taken_over(current: str | None, desired: str | None) -> None:
    assert decide_config(current, desired, "it") == ConfigDecision(desired)


@pytest.mark.parametrize(
    ("desired", "value"), [(LOW, 120), (None, 110)], ids=["lower", "no longer referred to"]
)
def test_lowered_settings_are_refused_with_the_values_and_the_cure(desired: str | None, value: int) -> None:
    decision = decide_config(HIGH, desired, "key c of ConfigMap m")
    assert decision.text == HIGH
    assert decision.problem == (
        f"key c of ConfigMap m lowers max_connections from 150 to {value}, and no standby would start any more; set the"
        " former value or a higher one, until then servers keep the settings that they have"
    )
