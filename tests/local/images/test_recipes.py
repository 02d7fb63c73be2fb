"""The programs inside the small images."""

from __future__ import annotations

import os
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.install.values import Values
from steward.local.images import recipes
from steward.local.images.names import full_name
from steward.local.ports import free_ports
from steward.local.programs import binaries
from steward.local.programs.programs import PAUSE, WORKLOAD
from steward.local.progress import SilentProgress
from steward.multigres.resolution.defaults import ETCD_IMAGE
from tests.tenants.support.customers import until


@pytest.fixture
async def workload() -> Path:
    return (await binaries.ensure([WORKLOAD], SilentProgress()))["workload"]


@contextmanager
def _server(program: Path, **environment: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    [port] = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [program, "-listen", f"127.0.0.1:{port}"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: _status(f"{url}/") == 200)
        yield process, url
    finally:
        process.kill()
        process.wait(timeout=60)


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
    except OSError:
        return 0


def test_the_images_have_the_names_that_manifests_use() -> None:
    assert recipes.etcd().name == ETCD_IMAGE
    assert recipes.operators().name == f"{Values().image.repository}:{Values().image.tag}"
    assert full_name(recipes.PAUSE_IMAGE) == recipes.PAUSE_IMAGE


@pytest.mark.slow
def test_a_workload_fails_its_probes_after_the_number_of_requests_that_is_set(workload: Path) -> None:
    with _server(workload, WORKLOAD_FAIL_READY_AFTER="2", WORKLOAD_FAIL_HEALTH_AFTER="0") as (_, url):
        assert [_status(f"{url}/ready") for _ in range(3)] == [200, 200, 503]
        assert _status(f"{url}/healthz") == 503


@pytest.mark.slow
def test_a_workload_ends_with_success_after_sigterm(workload: Path) -> None:
    with _server(workload) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


@pytest.mark.slow
@pytest.mark.parametrize("flags", [["-job"], ["-run", "10ms", "-listen", "127.0.0.1:0"]])
def test_a_workload_ends_with_the_exit_code_that_is_set(workload: Path, flags: list[str]) -> None:
    done = subprocess.run([workload, *flags, "-exit-code", "3"], check=False, timeout=10, capture_output=True)
    assert done.returncode == 3


@pytest.mark.slow
async def test_pause_collects_children_and_ends_with_success_after_sigterm() -> None:
    program = (await binaries.ensure([PAUSE], SilentProgress()))["pause"]
    process = subprocess.Popen(["sh", "-c", f'true & exec "{program}"'])
    # The Go runtime catches all signals before main() has asked for them, so only a collected child shows that it has.
    until(lambda: _has_no_children_after_sigchld(process.pid))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=10) == 0


def _has_no_children_after_sigchld(pid: int) -> bool:
    if b"pause" not in Path(f"/proc/{pid}/comm").read_bytes():
        return False
    os.kill(pid, signal.SIGCHLD)
    return Path(f"/proc/{pid}/task/{pid}/children").read_text() == ""
