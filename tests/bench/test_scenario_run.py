"""An interrupted scenario shows what it had measured."""

import json
from pathlib import Path

import pytest
from bench.measuring import report as reports
from bench.measuring import scenario_run
from bench.measuring.figures import Figure
from bench.measuring.options import Options
from bench.measuring.report import Report
from bench.measuring.scenario_run import INTERRUPTED, run


@pytest.fixture(autouse=True)
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(reports, "RESULTS", tmp_path)
    # It changes the environment of this process, which runs other tests.
    monkeypatch.setattr(scenario_run, "enable_bytecode_cache", lambda: None)
    return tmp_path


async def interrupted(report: Report) -> None:
    raise KeyboardInterrupt


async def interrupted_late(report: Report) -> None:
    report.add(Figure("a storm", 3.0, "s"))
    raise KeyboardInterrupt


def test_an_interrupted_scenario_publishes_the_figures_that_it_has(results: Path) -> None:
    assert run(interrupted_late, Report("storm", Options(1, 1))) == INTERRUPTED
    found = json.loads((results / "storm.json").read_text())
    assert [figure["name"] for figure in found["figures"]] == ["a storm"]
    assert found["notes"] == ["interrupted: not all of it was measured"]


def test_a_scenario_that_is_interrupted_before_its_first_figure_keeps_the_last_results(results: Path) -> None:
    assert run(interrupted, Report("storm", Options(1, 1))) == INTERRUPTED
    assert not list(results.iterdir())
