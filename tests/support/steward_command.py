"""Runs verbs of `steward` in forks of a process that has imported all of them: most of a verb's time is its imports.

`tests/cli/test_main.py`, `test_demo.py` and the tests of `steward up` start the program itself.
"""

import os
import subprocess
import tempfile
from typing import IO

from tests.support.prepared_process import VERBS, forks_of

LIMIT_SECONDS = 300.0
_KILL_SECONDS = 60.0


def run_steward(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The exit code and the output of a verb, as `subprocess.run` gives them."""
    command = ["steward", *arguments]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = forks_of(VERBS, ()).start(command, os.environ | variables, output.fileno(), errors.fileno())
        try:
            code = process.wait(LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_KILL_SECONDS)
            raise
        return subprocess.CompletedProcess(command, code, _written(output), _written(errors))


def _written(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
