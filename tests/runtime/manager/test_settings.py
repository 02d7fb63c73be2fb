from pathlib import Path
from typing import Any

import pytest

from steward.runtime.manager.connect_to import Forward, ForwardFile
from steward.runtime.manager.settings import (
    Partition,
    Settings,
    SettingsError,
    all_settings,
    settings_from,
    table,
)
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("lease_duration", "1m30s", 90.0),
        ("lease_duration", "20", 20.0),
        ("retry_period", "500ms", 0.5),
        ("leader_elect", "false", False),
        ("leader_elect", "TRUE", True),
        ("namespaces", "a, b,", ("a", "b")),
        ("workers", "cell=5,tenant=10", {"cell": 5, "tenant": 10}),
        ("connect_to", "db.shop:5432:127.0.0.1:15432", (Forward("db.shop", 5432, "127.0.0.1", 15432),)),
        ("connect_to", "a:1:[::1]:2,b:3:c:4", (Forward("a", 1, "[::1]", 2), Forward("b", 3, "c", 4))),
        (
            "connect_to",
            "@/run/forwards,a:1:b:2",
            (ForwardFile(Path("/run/forwards")), Forward("a", 1, "b", 2)),
        ),
        ("kube_api_qps", "50", 50.0),
        ("log_level", "debug", "debug"),
        ("metrics_bind_address", "0", "0"),
    ],
)
def test_a_flag_and_its_variable_accept_the_same_values(name: str, text: str, value: Any) -> None:
    assert getattr(settings_from({}, {name: text}), name) == value
    assert getattr(settings_from({f"STEWARD_{name.upper()}": text}), name) == value


def test_the_partition_is_set_by_shard() -> None:
    assert settings_from({}, {"shard": "2/4"}).partition == Partition(2, 4)
    assert settings_from({"STEWARD_SHARD": "2/4"}).partition == Partition(2, 4)


@pytest.mark.parametrize(
    ("variable", "text", "cure"),
    [
        ("STEWARD_LEASE_DURATION", "soon", "a duration such as 15s or 1m30s"),
        ("STEWARD_LEADER_ELECT", "maybe", "true or false"),
        ("STEWARD_SHARD", "4/4", "N/M, N from 0"),
        ("STEWARD_SHARD", "1", "N/M, N from 0"),
        ("STEWARD_WORKERS", "cell", "CONTROLLER=NUMBER, by comma"),
        ("STEWARD_WORKERS", "cell=0", "CONTROLLER=NUMBER, by comma"),
        ("STEWARD_CONNECT_TO", "db:5432", "HOST:PORT:ADDRESS:PORT, by comma"),
        ("STEWARD_KUBE_API_QPS", "-1", "a number, 0 or more"),
        ("STEWARD_KUBE_API_QPS", "nan", "a number, 0 or more"),
        ("STEWARD_LOG_LEVEL", "loud", "debug or info or warning or error"),
        ("STEWARD_ON_LEASE_LOST", "cry", "exit or standby"),
    ],
)
def test_an_invalid_value_is_rejected_with_the_cure(variable: str, text: str, cure: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings_from({variable: text})
    assert str(refused.value) == f"{variable}={text}: give {cure}"


def test_a_flag_takes_precedence_over_its_variable() -> None:
    settings = settings_from({"STEWARD_LOG_LEVEL": "error"}, {"log_level": "debug"})
    assert settings.log_level == "debug"


def test_an_empty_variable_counts_as_unset() -> None:
    assert settings_from({"STEWARD_LEASE_DURATION": ""}) == Settings()


@pytest.mark.parametrize(
    "given",
    [{"lease_duration": "10s"}, {"renew_deadline": "2s"}, {"retry_period": "9s"}, {"retry_period": "0"}],
)
def test_lease_durations_that_contradict_each_other_are_rejected(given: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="must be longer than renew-deadline"):
        settings_from({}, given)


def test_every_setting_has_a_flag_a_variable_and_a_meaning() -> None:
    for setting in all_settings():
        assert setting.flag.startswith("--")
        assert setting.variable == "STEWARD_" + setting.flag[2:].replace("-", "_").upper()
        assert setting.spec.help.endswith(".")


def test_the_table_in_the_docs_is_up_to_date() -> None:
    """The page groups the rows that `steward run --print-settings` prints."""
    page = (ROOT / "docs" / "run.md").read_text().splitlines()
    assert sorted(line for line in page if line.startswith("| `--")) == sorted(table().splitlines()[2:])
