"""Verbs in forks give what the program gives."""

from tests.support.steward_command import run_steward


def test_the_exit_code_and_both_outputs_are_those_of_the_verb() -> None:
    done = run_steward("--version")
    assert (done.returncode, done.stdout.startswith("steward "), done.stderr) == (0, True, "")
    wrong = run_steward("fly")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "No such command 'fly'" in wrong.stderr
