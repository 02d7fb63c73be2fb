"""Which tests a run leaves out."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.paths import ROOT
from tests.support.suites import SEPARATE, deselect_separate_suites

ATTACK, OTHER = ROOT / "tests/attacks/test_row_author.py", ROOT / "tests/support/test_suites.py"


class Run:
    """A run with the given arguments that has collected an attack and another test."""

    def __init__(self, *arguments: str) -> None:
        self.deselected: list[Path] = []
        hook = SimpleNamespace(pytest_deselected=lambda items: self.deselected.extend(i.path for i in items))
        config = SimpleNamespace(args=list(arguments), invocation_params=SimpleNamespace(dir=ROOT), hook=hook)
        items = cast(list[pytest.Item], [Item(ATTACK), Item(OTHER)])
        deselect_separate_suites(cast(Any, config), items)
        self.selected = [item.path for item in items]


class Item:
    def __init__(self, path: Path) -> None:
        self.path = path


@pytest.mark.parametrize("suite", ["e2e", "mysql"])
def test_tests_that_need_more_than_the_others_are_a_suite_of_their_own(suite: str) -> None:
    assert ROOT / "tests" / suite in SEPARATE


@pytest.mark.parametrize("argument", ["", "tests", "tests/support"])
def test_a_run_that_does_not_name_the_attacks_leaves_them_out(argument: str) -> None:
    run = Run(argument)
    assert (run.selected, run.deselected) == ([OTHER], [ATTACK])


@pytest.mark.parametrize(
    "argument", ["tests/attacks", "tests/attacks/test_row_author.py::test_values_are_data_in_every_field"]
)
def test_a_run_that_names_an_attack_runs_it(argument: str) -> None:
    run = Run("tests/support", argument)
    assert (run.selected, run.deselected) == ([ATTACK, OTHER], [])
