"""kubectl as a function.

Simple requests whose output is not used are sent directly, without a process, because tests make thousands of them.
`run`, `expect_rejection` and `expect_warning` always run kubectl.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import kubectl_calls
from tests.support.api_server import ApiServer
from tests.support.programs import built_program

LIMIT_SECONDS = 300.0
"""Longer than any `--timeout` of a test: `kubectl delete` waits for ever for an object that is created again."""


class Kubectl:
    def __init__(self, kubeconfig: Path) -> None:
        self._command = [str(built_program("kubectl")), "--kubeconfig", str(kubeconfig)]
        self.server = ApiServer(kubeconfig)

    def run(self, *args: str, document: object = None) -> tuple[str, str]:
        """Standard output, and standard error if kubectl failed."""
        done = self._run_process(args, document)
        return done.stdout, done.stderr if done.returncode else ""

    def __call__(self, *args: str, document: object = None) -> str:
        if args[0] != "get" and kubectl_calls.try_direct_call(self.server, args, document):
            return ""
        output, error = self.run(*args, document=document)
        if error:
            pytest.fail(f"kubectl {' '.join(args)}: {error}")
        return output

    def expect_rejection(self, *args: str, document: object = None) -> str:
        """The error message of a command that must fail."""
        output, error = self.run(*args, document=document)
        assert error, f"kubectl {' '.join(args)} was not rejected: {output}"
        return error

    def expect_warning(self, *args: str, document: object = None) -> str:
        """The warnings of a command that must succeed."""
        done = self._run_process(args, document)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def _run_process(self, args: tuple[str, ...], document: object) -> subprocess.CompletedProcess[str]:
        text = None if document is None else json.dumps(document)
        command = [*self._command, *args]
        try:
            return subprocess.run(
                command, input=text, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
            )
        except subprocess.TimeoutExpired:
            pytest.fail(f"kubectl {' '.join(args)} did not end within {LIMIT_SECONDS:.0f} s")

    def json(self, *args: str) -> Any:
        found = kubectl_calls.try_direct_call(self.server, args)
        return json.loads(self(*args, "-o", "json")) if found is None else found
