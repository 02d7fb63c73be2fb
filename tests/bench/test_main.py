"""The command line of the benchmarks."""

import pytest
from bench.__main__ import main, scenarios


def test_every_scenario_has_a_one_line_description():
    found = scenarios()
    assert {"floor", "applies", "noop", "one_apply", "cold_start", "idle"} <= found.keys()
    assert all((module.__doc__ or "").splitlines()[0] for module in found.values())


def test_the_tools_are_no_scenario():
    assert "measuring" not in scenarios()


def test_an_unknown_scenario_is_an_error_that_lists_the_known_ones(capsys: pytest.CaptureFixture[str]):
    assert main(["nonsense"]) == 2
    assert "floor" in capsys.readouterr().err
