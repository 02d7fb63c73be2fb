"""kubectl as a function: what a user would type, and what the server says."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from steward.local import binaries
from steward.local.programs import CONTROL_PLANE
from steward.local.progress import Silent


class Kubectl:
    def __init__(self, kubeconfig: Path) -> None:
        loop = asyncio.new_event_loop()
        program = loop.run_until_complete(binaries.ensure([CONTROL_PLANE], Silent()))["kubectl"]
        loop.close()
        self._command = [str(program), "--kubeconfig", str(kubeconfig)]

    def __call__(self, *args: str, document: object = None) -> str:
        text = None if document is None else json.dumps(document)
        done = subprocess.run(
            [*self._command, *args], input=text, capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.fail(f"kubectl {' '.join(args)}: {done.stderr}")
        return done.stdout

    def refused(self, *args: str, document: object = None) -> str:
        """What the server says when it says no."""
        text = None if document is None else json.dumps(document)
        done = subprocess.run(
            [*self._command, *args], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode, f"kubectl {' '.join(args)} was not refused: {done.stdout}"
        return done.stderr

    def json(self, *args: str) -> Any:
        return json.loads(self(*args, "-o", "json"))
