"""The mutants that `make mutate` makes."""

import ast
from pathlib import Path

import pytest

from tests.mutation.__main__ import TARGETS
from tests.mutation.mutant_run import MutantRun
from tests.mutation.mutants import find_mutants
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("a == b", ["a != b"]),
        ("a < b", ["a <= b"]),
        ("a in b", ["a not in b"]),
        ("a is None", ["a is not None"]),
        ("a and b", ["a or b"]),
        ("not a", ["a"]),
        ("a + b", ["a - b"]),
        ("a if b else c", ["c if b else a"]),
        ("True", ["False"]),
        ("3", ["4"]),
        ("'text'", []),
        ("f(a)", []),
    ],
)
def test_an_expression_becomes_another_decision(source: str, changes: list[str]) -> None:
    assert [mutant.source for mutant in find_mutants(source)] == changes


def test_each_mutant_has_one_change_and_its_line() -> None:
    source = "def f(a: int = 1) -> bool:\n    return a > 0 and a != 5\n"
    mutants = find_mutants(source)
    assert len({mutant.source for mutant in mutants}) == len(mutants) == 6
    assert all(ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source)) for mutant in mutants)
    assert {mutant.change: mutant.line for mutant in mutants}["a != 5 → a == 5"] == 2


def test_annotations_are_left_alone() -> None:
    assert find_mutants("x: 'Literal[1]' = f()\ndef g(a: list[3]) -> dict[1, 2]: ...") == []


def test_every_target_exists_with_its_tests() -> None:
    for module, tests in TARGETS.items():
        assert (ROOT / "src" / Path(*module.split(".")).with_suffix(".py")).is_file(), module
        assert (ROOT / tests).exists(), tests


@pytest.mark.parametrize(
    ("source", "is_killed"),
    [("def f() -> int:\n    return 1\n", False), ("def f() -> int:\n    return 2\n", True)],
)
def test_tests_run_with_the_mutant_in_place_of_its_module(
    tmp_path: Path, source: str, is_killed: bool
) -> None:
    (tmp_path / "mutant.py").write_text(source)
    test = tmp_path / "test_it.py"
    test.write_text("from steward.absent import f\n\ndef test_it():\n    assert f() == 1\n")
    code = MutantRun("steward.absent", tmp_path / "mutant.py").exit_code([str(test)])
    assert (code != 0) is is_killed
