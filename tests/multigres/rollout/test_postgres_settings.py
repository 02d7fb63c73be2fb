"""Settings that a standby must not have lower than its primary: raised, never lowered."""

import pytest

from steward.multigres.resolution.postgres.settings import restart_digest
from steward.multigres.rollout.postgres_settings import (
    ConfigDecision,
    CurrentConfig,
    DesiredConfig,
    LoweredSetting,
    NeededSettings,
    decide_config,
    lowered_settings,
    standby_settings,
)
from steward.postgres.setting_values import KnownSetting


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
    assert standby_settings(line) == {"max_connections": value}


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
    assert standby_settings(line) == {}


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


def desired(text: str | None) -> DesiredConfig:
    return DesiredConfig(text, "key c of ConfigMap m")


@pytest.mark.parametrize(
    ("current", "text"),
    [(None, LOW), (LOW, HIGH), ("max_connections = 90", None), (None, None)],
    ids=["first", "raised", "no longer referred to", "none"],
)
def test_settings_that_are_not_lowered_are_taken_over(current: str | None, text: str | None) -> None:
    decision = decide_config(CurrentConfig(current), desired(text), None)
    assert decision == ConfigDecision(text, digest=restart_digest(text))


@pytest.mark.parametrize(("text", "value"), [(LOW, 120), (None, 110)], ids=["lower", "no longer referred to"])
def test_lowered_settings_are_refused_with_the_values_and_the_cure(text: str | None, value: int) -> None:
    decision = decide_config(CurrentConfig(HIGH, "recorded"), desired(text), None)
    assert (decision.text, decision.digest) == (HIGH, "recorded")
    assert decision.problem == (
        f"key c of ConfigMap m lowers max_connections from 150 to {value}, and no standby would start any more; set the"
        " former value or a higher one, until then servers keep the settings that they have"
    )


@pytest.mark.parametrize(
    "needed", [{}, {"max_connections": 120}], ids=["none started", "servers run with it"]
)
def test_lowered_settings_that_every_server_can_start_with_are_taken_over(needed: dict[str, int]) -> None:
    decision = decide_config(CurrentConfig(HIGH, "recorded"), desired(LOW), None, NeededSettings(needed))
    assert decision == ConfigDecision(LOW, digest=restart_digest(LOW))


def test_settings_lower_than_those_of_running_servers_are_refused_with_the_values_of_these() -> None:
    needed = NeededSettings({"max_connections": 130, "max_wal_senders": 25})
    decision = decide_config(CurrentConfig(HIGH), desired(LOW), None, needed)
    assert (decision.text, decision.is_lowered) == (HIGH, True)
    assert "lowers max_connections from 130 to 120, and no standby would start" in decision.problem


def test_servers_that_run_with_more_than_their_settings_do_not_raise_the_limit() -> None:
    needed = NeededSettings({"max_connections": 500})
    assert decide_config(CurrentConfig(LOW), desired(HIGH), None, needed).text == HIGH


def test_lowered_settings_wait_while_servers_start_for_the_first_time() -> None:
    decision = decide_config(CurrentConfig(HIGH), desired(LOW), None, NeededSettings(None, 5.0))
    assert (decision.text, decision.is_lowered, decision.retry_after) == (HIGH, True, 5.0)
    assert decision.problem == (
        "key c of ConfigMap m lowers max_connections from 150 to 120, while servers start for the first time; it is"
        " taken over if none of them can"
    )


WORK_MEM = KnownSetting("user", "integer", "kB", "64", "2147483647")
BUFFERS = KnownSetting("postmaster", "integer", "8kB", "16", "1073741823")
KNOWN = {"work_mem": WORK_MEM, "shared_buffers": BUFFERS}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("wrok_mem = 8MB", "wrok_mem (Postgres does not know it)"),
        ("shared_buffers = much", "shared_buffers (it is not a number)"),
        ("work_mem = 8MB\nwork_mem = 1kB", "work_mem (it is outside of 64 to 2147483647, in kB)"),
    ],
    ids=["name", "value", "last-line"],
)
def test_settings_with_which_postgres_would_not_start_are_refused_before_a_server_reads_them(
    text: str, named: str
) -> None:
    decision = decide_config(CurrentConfig("work_mem = 8MB", "recorded"), desired(text), KNOWN)
    assert (decision.text, decision.digest, decision.is_unknown) == ("work_mem = 8MB", "recorded", True)
    assert decision.problem == (
        f"key c of ConfigMap m sets {named}, and Postgres would not start any more; correct it, until then servers keep"
        " the settings that they have"
    )


def test_settings_of_an_extension_that_is_not_loaded_are_not_judged() -> None:
    decision = decide_config(CurrentConfig(""), desired("pg_stat_statements.max = 5"), {})
    assert (decision.problem, decision.text) == ("", "pg_stat_statements.max = 5")


OWN = "mine.buffers = 100"


@pytest.mark.parametrize(
    ("before", "after", "known", "is_kept"),
    [
        ("work_mem = 8MB", "work_mem = 16MB", KNOWN, True),
        ("shared_buffers = 1GB", "shared_buffers = 2GB", KNOWN, False),
        ("shared_buffers = 1GB", None, KNOWN, False),
        # The server's word wins over the list of settings, in both directions.
        ("shared_buffers = 1GB", "shared_buffers = 2GB", {"shared_buffers": WORK_MEM}, True),
        ("work_mem = 8MB", "work_mem = 16MB", {"work_mem": BUFFERS}, False),
        # Without a server the list decides, and an extension may need a restart.
        ("work_mem = 8MB", "work_mem = 16MB", None, True),
        ("shared_buffers = 1GB", "shared_buffers = 2GB", None, False),
        (OWN, "mine.buffers = 200", None, False),
        (OWN, "mine.buffers = 200", {"mine.buffers": WORK_MEM}, True),
    ],
)
def test_pods_are_replaced_if_the_server_needs_a_restart_for_a_changed_setting(
    before: str, after: str | None, known: dict[str, KnownSetting] | None, is_kept: bool
) -> None:
    decision = decide_config(CurrentConfig(before, "recorded"), desired(after), known)
    assert decision.text == after
    assert (decision.digest == "recorded") is is_kept


def test_a_digest_that_is_not_recorded_follows_from_the_settings() -> None:
    current = CurrentConfig("shared_buffers = 1GB")
    decision = decide_config(current, desired("shared_buffers = 1GB\nwork_mem = 8MB"), KNOWN)
    assert decision.digest == restart_digest("shared_buffers = 1GB") != ""


def test_the_first_settings_change_no_pod_if_postgres_needs_no_restart() -> None:
    assert decide_config(CurrentConfig(""), desired("work_mem = 8MB"), KNOWN).digest == ""
