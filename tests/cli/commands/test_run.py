"""`steward run` on the command line: its flags, its settings table and its errors."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from steward.cli.commands import run
from steward.runtime.manager import run as operators
from steward.runtime.manager.run import Operator
from steward.runtime.manager.settings import Settings, all_settings, table

Started = list[tuple[list[str], Settings]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Two fake operators are registered; the operators to start are recorded."""
    started: Started = []

    def record(chosen: list[Operator], settings: Settings) -> int:
        started.append(([operator.name for operator in chosen], settings))
        return 0

    module = "tests.cli.support.registered_operator"
    modules = {name: run.OperatorModule(f"{name}-operator", module) for name in ("multigres", "tenants")}
    monkeypatch.setattr(run, "OPERATORS", modules)
    monkeypatch.setattr(operators, "run_operators", record)
    return started


def test_without_operators_run_fails_with_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "OPERATORS", {})
    result = CliRunner().invoke(run.command, [])
    assert result.exit_code == 1
    assert result.output == "Error: this version of Steward has no operator to run yet\n"


def test_an_unknown_operator_is_wrong_usage(started: Started) -> None:
    result = CliRunner().invoke(run.command, ["postgres"])
    assert result.exit_code == 2
    assert (
        "postgres is not an operator of this version of Steward; available: multigres, tenants"
        in result.output
    )


@pytest.mark.parametrize(
    ("arguments", "names"),
    [([], ["multigres-operator", "tenants-operator"]), (["tenants"], ["tenants-operator"])],
)
def test_both_operators_run_unless_one_is_named(
    started: Started, arguments: list[str], names: list[str]
) -> None:
    result = CliRunner().invoke(run.command, arguments)
    assert result.exit_code == 0, result.output
    assert [chosen for chosen, _ in started] == [names]


def test_flags_become_settings(started: Started) -> None:
    flags = ["tenants", "--leader-elect=false", "--lease-duration", "1m", "--shard=1/2", "--metrics-secure"]
    CliRunner().invoke(run.command, flags)
    ((_, settings),) = started
    assert (settings.leader_elect, settings.lease_duration, settings.metrics_secure) == (False, 60.0, True)
    assert settings.partition == (1, 2)


def test_every_flag_has_an_environment_variable(started: Started) -> None:
    CliRunner().invoke(run.command, [], env={"STEWARD_LOG_LEVEL": "debug"})
    ((_, settings),) = started
    assert settings.log_level == "debug"


def test_a_wrong_value_is_wrong_usage_with_the_cure(started: Started) -> None:
    result = CliRunner().invoke(run.command, ["--lease-duration", "soon"])
    assert result.exit_code == 2
    assert "--lease-duration=soon: give a duration such as 15s or 1m30s" in result.output


def test_every_setting_is_in_the_help_with_its_variable() -> None:
    text = " ".join(CliRunner().invoke(run.command, ["--help"]).output.split())
    for setting in all_settings():
        assert setting.flag in text
        assert f"[{setting.variable}]" in text


def test_the_table_can_be_printed() -> None:
    assert CliRunner().invoke(run.command, ["--print-settings"]).output == table()
