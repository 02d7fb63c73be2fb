"""CRDs of the Prometheus operator, to validate shipped manifests.

They come from its Go module in the module cache of Go; nothing of it is built or run.
"""

import asyncio
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from steward.local.paths import cache_directory
from steward.local.programs import toolchain
from steward.local.programs.go_build import go_environment
from steward.local.progress import SilentProgress

MODULE = "github.com/prometheus-operator/prometheus-operator@v0.85.0"
SUM = "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s="
DEFINITIONS = "example/prometheus-operator-crd/monitoring.coreos.com_{}.yaml"
ATTEMPTS = 3
"""Go, unlike pip, does not retry network errors."""
PLURALS = ("podmonitors", "prometheusrules", "servicemonitors")


@cache
def definitions() -> tuple[Path, ...]:
    found = json.loads(_download_module())
    assert found["Sum"] == SUM, found
    return tuple(Path(found["Dir"]) / DEFINITIONS.format(plural) for plural in PLURALS)


def _download_module() -> str:
    """Output of `go mod download`. `SUM` replaces the public checksum database."""
    with ThreadPoolExecutor(1) as thread:
        found = toolchain.find_go((1, 24), cache_directory(), SilentProgress())
        go = thread.submit(asyncio.run, found).result()
    environment = go_environment() | {"GOSUMDB": "off", "GOFLAGS": ""}
    for _ in range(ATTEMPTS):
        done = subprocess.run(
            [str(go), "mod", "download", "-json", MODULE],
            env=environment,
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        if done.returncode == 0:
            return done.stdout
    raise AssertionError(done.stdout + done.stderr)
