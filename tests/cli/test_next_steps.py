"""Suggested commands: descriptions fit the terminal, commands can be copied."""

import pytest

from steward.cli.next_steps import CHANGE_STEPS, INSPECT_STEPS, next_step_lines
from steward.local.sample.objects import SampleOptions

THREE_ZONES = SampleOptions(("z1", "z2", "z3"))


@pytest.mark.parametrize("width", [30, 80])
def test_descriptions_are_wrapped_and_commands_are_not(width: int) -> None:
    commands = [f"     steward {step.verb}" for step in (*CHANGE_STEPS, *INSPECT_STEPS)]
    lines = next_step_lines(lambda verb: f"steward {verb}", width, THREE_ZONES)
    assert [line for line in lines if line in commands] == commands
    assert all(len(line) <= width for line in lines if line not in commands)
    assert " ".join(" ".join(lines).split()).count("the guard holds") == 1


def test_no_cell_is_removed_from_a_cluster_that_has_one() -> None:
    lines = next_step_lines(lambda verb: verb, 80, SampleOptions(("z1",)))
    assert not [line for line in lines if "/spec/cells" in line]
