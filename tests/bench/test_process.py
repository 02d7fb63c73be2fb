"""Memory of a process with its children."""

import subprocess
import sys

from bench.measuring.process import tree_mb

WAITS = "import sys; data = bytearray(20_000_000); print(flush=True); sys.stdin.read()"
STARTS_CHILD = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {WAITS!r}], stdin=sys.stdin, stdout=sys.stdout)
child.wait()
"""


def test_memory_includes_that_of_a_child() -> None:
    command = [sys.executable, "-c", STARTS_CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        assert tree_mb(process.pid) > 20
        process.stdin.close()
        process.wait(60)


def test_a_process_that_has_ended_has_no_memory() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait(60)
    assert tree_mb(process.pid) == 0.0
