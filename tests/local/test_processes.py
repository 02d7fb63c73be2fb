from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from steward.local.processes import Lifetime, Service

SLEEP = ["/bin/sleep", "600"]


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    service = Service("sleeper", tmp_path)
    yield service
    await service.stop(patience=5)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


def pid_of(service: Service) -> int:
    return int(json.loads(service.pidfile.read_text())["pid"])


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]


async def test_a_started_service_runs_in_a_session_of_its_own(service: Service) -> None:
    service.start(SLEEP, Lifetime.OWN)
    assert service.is_running()
    pid = pid_of(service)
    await until(lambda: command_of(pid) == "/bin/sleep")
    assert os.getsid(pid) == pid
    assert service.is_running()


async def test_stop_ends_it_and_forgets_it(service: Service) -> None:
    service.start(SLEEP, Lifetime.OWN)
    pid = pid_of(service)
    await service.stop(patience=5)
    assert not Path(f"/proc/{pid}").exists()
    assert not service.is_known()


async def test_one_that_ignores_the_polite_signal_is_killed(service: Service) -> None:
    service.start(["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"], Lifetime.OWN)
    await until(lambda: "deaf" in service.log_tail())
    await service.stop(patience=0.2)
    assert not service.is_running()


async def test_a_stale_pid_file_never_hits_a_stranger(service: Service) -> None:
    with subprocess.Popen(SLEEP) as stranger:
        service.pidfile.write_text(json.dumps({"pid": stranger.pid, "started": 1, "boot": "another"}))
        assert not service.is_running()
        await service.stop(patience=1)
        assert stranger.poll() is None
        assert not service.is_known()
        stranger.kill()


@pytest.mark.parametrize(
    "content", ["", "{", "17", '{"pid": "x"}', '{"pid": 999999999, "started": 1, "boot": ""}']
)
async def test_a_damaged_pid_file_is_stale(service: Service, content: str) -> None:
    service.pidfile.write_text(content)
    assert service.is_known()
    assert not service.is_running()
    await service.stop(patience=1)
    assert not service.is_known()


async def test_one_that_died_is_known_but_does_not_run(service: Service) -> None:
    service.start(["/bin/sh", "-c", "echo last words; exit 3"], Lifetime.OWN)
    await until(lambda: not service.is_running())
    assert service.is_known()
    assert service.log_tail() == "last words"


async def test_the_log_of_the_run_before_is_kept(service: Service) -> None:
    for words in ("first", "second"):
        service.start(["/bin/echo", words], Lifetime.OWN)
        await until(lambda: not service.is_running())
    assert service.log_tail() == "second"
    assert service.logfile.with_suffix(".log.1").read_text() == "first\n"


PARENT = """
import sys, time, pathlib
from steward.local.processes import Lifetime, Service
Service("sleeper", pathlib.Path(sys.argv[1])).start(["/bin/sleep", "600"], Lifetime[sys.argv[2]])
print("started", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(("lifetime", "survives"), [("PARENT", False), ("OWN", True)])
async def test_what_becomes_of_it_when_its_parent_is_killed(
    service: Service, lifetime: str, survives: bool
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, service.directory, lifetime], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        pid = pid_of(service)
        await until(lambda: command_of(pid) == "/bin/sleep")
        parent.send_signal(signal.SIGKILL)
    if survives:
        assert service.is_running()
    else:
        await until(lambda: not service.is_running())
