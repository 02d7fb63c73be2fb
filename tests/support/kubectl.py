"""kubectl as a function: what a user would type, and what the server says.

Where kubectl would send a plain request and nobody reads what it prints, the request is sent without a process:
tests do so thousands of times. `outcome`, `refused` and `warned` are always kubectl's own words.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import kubectl_calls
from tests.support.api_server import ApiServer
from tests.support.programs import program


class Kubectl:
    def __init__(self, kubeconfig: Path) -> None:
        self._command = [str(program("kubectl")), "--kubeconfig", str(kubeconfig)]
        self.server = ApiServer(kubeconfig)

    def outcome(self, *args: str, document: object = None) -> tuple[str, str]:
        """What kubectl printed, and its complaint if it failed."""
        done = self._run(args, document)
        return done.stdout, done.stderr if done.returncode else ""

    def __call__(self, *args: str, document: object = None) -> str:
        if args[0] != "get" and kubectl_calls.answered(self.server, args, document):
            return ""
        printed, complaint = self.outcome(*args, document=document)
        if complaint:
            pytest.fail(f"kubectl {' '.join(args)}: {complaint}")
        return printed

    def refused(self, *args: str, document: object = None) -> str:
        """What the server says when it says no."""
        printed, complaint = self.outcome(*args, document=document)
        assert complaint, f"kubectl {' '.join(args)} was not refused: {printed}"
        return complaint

    def warned(self, *args: str, document: object = None) -> str:
        """What the server warns of while it says yes."""
        done = self._run(args, document)
        assert done.returncode == 0, done.stderr
        return done.stderr

    def _run(self, args: tuple[str, ...], document: object) -> subprocess.CompletedProcess[str]:
        text = None if document is None else json.dumps(document)
        return subprocess.run(
            [*self._command, *args], input=text, capture_output=True, text=True, check=False
        )

    def json(self, *args: str) -> Any:
        found = kubectl_calls.answered(self.server, args)
        return json.loads(self(*args, "-o", "json")) if found is None else found
