"""From settings to an exit code, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
from steward.runtime.manager.run import Operator, run_operators
from steward.runtime.manager.settings import settings_from
sys.exit(run_operators([Operator("nobody", lambda manager, settings: None)], settings_from(os.environ)))
"""

UNREACHABLE = """
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
"""


def run(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(UNREACHABLE)
    quiet = {"STEWARD_METRICS_BIND_ADDRESS": "0", "STEWARD_HEALTH_PROBE_BIND_ADDRESS": "0"}
    variables = {
        **os.environ,
        "KUBECONFIG": str(kubeconfig),
        "STEWARD_LOG_FORMAT": "text",
        **quiet,
        **environment,
    }
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=False,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"STEWARD_KUBECONFIG": "/nowhere/kubeconfig"}, "there is no kubeconfig at /nowhere/kubeconfig"),
        (
            {"STEWARD_METRICS_BIND_ADDRESS": ":8080", "STEWARD_METRICS_SECURE": "false"},
            "plain metrics are served on loopback only",
        ),
        ({"STEWARD_HEALTH_PROBE_BIND_ADDRESS": "nonsense"}, "nonsense is no address to listen on"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "pigeon"},
            "OTEL_EXPORTER_OTLP_PROTOCOL=pigeon is not supported",
        ),
    ],
    ids=["no kubeconfig", "open metrics", "bad address", "bad protocol"],
)
def test_an_error_that_a_user_can_fix_is_one_message_and_exit_code_one(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    done = run(tmp_path, **environment)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
