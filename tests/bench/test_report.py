"""The table on standard output, and the JSON file."""

import json
from pathlib import Path

import pytest
from bench.measuring import report
from bench.measuring.figures import Figure, at_most, with_floor
from bench.measuring.options import Options
from bench.measuring.report import Report, number, table


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12,346"), (123.4, "123"), (12.34, "12.3"), (1.234, "1.23"), (0.0123, "0.012"), (3.0, "3")],
)
def test_a_number_has_three_significant_digits(value: float, text: str):
    assert number(value) == text


def test_the_table_has_a_line_per_figure_with_right_aligned_numbers():
    lines = table(
        [Figure("floor", 100, "/s"), with_floor("memory", 69.4, "MB", 40, at_most(60))]
    ).splitlines()
    assert lines[0].split() == ["figure", "value", "floor", "ratio", "target"]
    assert lines[2].split() == ["floor", "100", "/s"]
    assert lines[3].split() == ["memory", "69.4", "MB", "40", "1.74", "≤", "60", "missed"]
    assert lines[2].index("100 /s") + len("100 /s") == lines[3].index("69.4 MB") + len("69.4 MB")


def test_a_table_without_figures_has_its_headings():
    assert table([]).splitlines()[0].startswith("figure")


def test_results_name_the_machine_and_its_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    taken = Report("idle", Options(objects=1, rounds=1))
    taken.add(with_floor("memory", 69.4, "MB", 40, at_most(60)))
    taken.publish()
    written = json.loads((tmp_path / "results" / "idle.json").read_text())
    assert written["machine"]["cores"] >= 1
    assert written["load"].keys() == {"before", "after"}
    assert written["figures"][0] | {"ratio": None} == {
        "name": "memory",
        "value": 69.4,
        "unit": "MB",
        "floor": 40,
        "ratio": None,
        "target": "≤ 60",
        "verdict": "missed",
    }
    assert "cores" in capsys.readouterr().out
