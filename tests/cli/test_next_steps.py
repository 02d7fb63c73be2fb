"""What is said to try: sentences fit the terminal, commands can be copied."""

import pytest

from steward.cli.next_steps import LOOKING, STEPS, told


@pytest.mark.parametrize("width", [30, 80])
def test_sentences_are_wrapped_and_commands_are_whole(width: int) -> None:
    commands = [f"     steward {step.verb}" for step in (*STEPS, *LOOKING)]
    lines = told(lambda verb: f"steward {verb}", width)
    assert [line for line in lines if line in commands] == commands
    assert all(len(line) <= width for line in lines if line not in commands)
    assert " ".join(" ".join(lines).split()).count("the guard holds") == 1
