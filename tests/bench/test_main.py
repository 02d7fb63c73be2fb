"""Scenarios are found by being there."""

import pytest
from bench.__main__ import main, scenarios


def test_every_scenario_says_in_one_line_what_it_measures():
    found = scenarios()
    assert {"floor", "applies", "noop", "one_apply", "cold_start", "idle"} <= found.keys()
    assert all((module.__doc__ or "").splitlines()[0] for module in found.values())


def test_what_scenarios_measure_with_is_no_scenario():
    assert "measuring" not in scenarios()


def test_an_unknown_scenario_is_told_with_those_that_exist(capsys: pytest.CaptureFixture[str]):
    assert main(["nonsense"]) == 2
    assert "floor" in capsys.readouterr().err
