"""Which tests a run leaves out."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.paths import ROOT
from tests.support.suites import SEPARATE, is_left_out

ATTACKS, OTHER = ROOT / "tests/attacks", ROOT / "tests/support"


def run_with(*arguments: str) -> pytest.Config:
    config = SimpleNamespace(args=list(arguments), invocation_params=SimpleNamespace(dir=ROOT))
    return cast(Any, config)  # type: ignore[no-any-return]


@pytest.mark.parametrize("suite", ["e2e", "multigres/crashes", "mysql"])
def test_tests_that_need_more_than_the_others_are_a_suite_of_their_own(suite: str) -> None:
    assert ROOT / "tests" / suite in SEPARATE


@pytest.mark.parametrize("argument", ["", "tests", "tests/support"])
def test_a_run_that_does_not_name_the_attacks_leaves_them_out(argument: str) -> None:
    run = run_with(argument)
    assert is_left_out(run, ATTACKS)
    assert not is_left_out(run, OTHER)


@pytest.mark.parametrize(
    "argument", ["tests/attacks", "tests/attacks/test_row_author.py::test_values_are_data_in_every_field"]
)
def test_a_run_that_names_an_attack_runs_it(argument: str) -> None:
    assert not is_left_out(run_with("tests/support", argument), ATTACKS)
