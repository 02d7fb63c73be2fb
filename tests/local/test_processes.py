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
    await service.stop(grace_seconds=5)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


def pid_of(service: Service) -> int:
    return int(json.loads(service.pidfile.read_text())["pid"])


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]


async def test_a_started_service_runs_in_its_own_session(service: Service) -> None:
    service.start(SLEEP, Lifetime.OWN)
    assert service.is_running()
    pid = pid_of(service)
    await until(lambda: command_of(pid) == "/bin/sleep")
    assert os.getsid(pid) == pid
    assert service.is_running()


async def test_stop_ends_the_process_and_deletes_its_pid_file(service: Service) -> None:
    service.start(SLEEP, Lifetime.OWN)
    pid = pid_of(service)
    await service.stop(grace_seconds=5)
    assert not Path(f"/proc/{pid}").exists()
    assert not service.has_pidfile()


async def test_a_process_that_ignores_sigterm_is_killed(service: Service) -> None:
    service.start(["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"], Lifetime.OWN)
    await until(lambda: "deaf" in service.log_tail())
    await service.stop(grace_seconds=0.2)
    assert not service.is_running()


async def test_a_stale_pid_file_never_stops_a_foreign_process(service: Service) -> None:
    with subprocess.Popen(SLEEP) as foreign:
        service.pidfile.write_text(json.dumps({"pid": foreign.pid, "started": 1, "boot": "another"}))
        assert not service.is_running()
        await service.stop(grace_seconds=1)
        assert foreign.poll() is None
        assert not service.has_pidfile()
        foreign.kill()


@pytest.mark.parametrize(
    "content", ["", "{", "17", '{"pid": "x"}', '{"pid": 999999999, "started": 1, "boot": ""}']
)
async def test_a_damaged_pid_file_is_stale(service: Service, content: str) -> None:
    service.pidfile.write_text(content)
    assert service.has_pidfile()
    assert not service.is_running()
    await service.stop(grace_seconds=1)
    assert not service.has_pidfile()


async def test_a_dead_process_has_a_pid_file_but_does_not_run(service: Service) -> None:
    service.start(["/bin/sh", "-c", "echo last words; exit 3"], Lifetime.OWN)
    await until(lambda: not service.is_running())
    assert service.has_pidfile()
    assert service.log_tail() == "last words"


async def test_the_log_of_the_previous_run_is_kept(service: Service) -> None:
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
async def test_a_service_outlives_its_killed_parent_only_with_its_own_lifetime(
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
