"""Runs commands of the documents in a directory with the files of the checkout, against one cluster."""

import os
import subprocess
import sys
from pathlib import Path

from steward.local.control_plane import ControlPlane
from tests.cli.support.document_commands import commands_on_page
from tests.support.paths import ROOT
from tests.support.programs import built_program

PAGES = (
    "docs/install.md",
    "docs/upgrade.md",
    "docs/monitoring/README.md",
    "docs/monitoring/runbooks/MultigresWebhookErrors.md",
)
INSTALLS = ("kubectl apply", "steward install", "kubectl rollout")
UNINSTALLS = "steward uninstall"
HELM = "helm "
READ_SECRET = "kubectl get secret"


def page_commands(words: str) -> list[str]:
    """Commands of the pages that start with the words, in order."""
    return [command for page in PAGES for command in commands_on_page(page) if command.startswith(words)]


class DocumentShell:
    def __init__(self, directory: Path, plane: ControlPlane) -> None:
        self._directory = directory
        programs = directory / "programs"
        programs.mkdir(parents=True)
        for name in ("helm", "kubectl"):
            (programs / name).symlink_to(built_program(name))
        (programs / "steward").symlink_to(Path(sys.executable).parent / "steward")
        for name in ("chart", "config"):
            (directory / name).symlink_to(ROOT / name)
        (directory / "values.yaml").write_text("webhooks: false\n")
        path = {"PATH": f"{programs}:{os.environ['PATH']}", "KUBECONFIG": str(plane.kubeconfig)}
        self._environment = {**os.environ, **path}

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            env=self._environment,
            cwd=self._directory,
            capture_output=True,
            # The answer to a question: `steward uninstall` asks.
            input="y\n",
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout
