"""Logs of several containers, with a server that sends them as a kubelet does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from steward.cli.operations.log_streams import (
    LogFollower,
    LogLine,
    LogOptions,
    log_line,
    merge_logs,
    read_logs,
)
from steward.cli.operations.log_targets import LogTarget
from steward.kube.client.client import Client, client_with_transport
from steward.kube.clock import SystemClock
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import Forbidden
from steward.kube.objects.kinds import Key
from steward.kube.transport.oneshot import OneShotTransport
from tests.cli.support.pod_stream_server import PodStreamServer, running_server


def target(pod: str) -> LogTarget:
    return LogTarget(Key("shop", pod), f"uid-{pod}", "app")


LIMIT_SECONDS = 60.0
A, B = target("a"), target("b")


@asynccontextmanager
async def connected(server: PodStreamServer) -> AsyncIterator[Client]:
    with running_server(server):
        settings = ConnectionSettings(server=server.url)
        client = client_with_transport(OneShotTransport(settings), settings, SystemClock())
        yield client
        await client.close()


def texts(lines: list[LogLine]) -> list[str]:
    return [f"{line.target.pod.name}:{line.text}" for line in lines]


def test_times_of_different_precision_and_offset_are_compared() -> None:
    lines = [
        [log_line(A, b"2026-01-01T10:00:00.25Z second"), log_line(A, b"2026-01-01T10:00:00.3Z fourth")],
        [
            log_line(B, b"2026-01-01T11:00:00.123456789+01:00 first"),
            log_line(B, b"2026-01-01T11:00:00.250000001+01:00 third"),
        ],
    ]
    assert texts(merge_logs(lines)) == ["b:first", "a:second", "b:third", "a:fourth"]


def test_a_line_without_a_time_comes_first_and_loses_nothing() -> None:
    lines = [[log_line(A, b"2026-01-01T10:00:00Z x")], [log_line(B, b"unable to read")]]
    assert texts(merge_logs(lines)) == ["b:to read", "a:x"]


async def test_logs_are_merged_and_a_container_that_has_not_started_is_named() -> None:
    logs = {("a", "app"): ["2026-01-01T00:00:01Z one", "2026-01-01T00:00:03Z three \xe9"]}
    async with connected(PodStreamServer(logs=logs)) as client:
        lines, problems = await read_logs(client, [A, B], LogOptions())
    assert texts(lines) == ["a:one", "a:three \xe9"]
    assert [problem.target for problem in problems] == [B]
    assert "is waiting to start" in problems[0].message


async def test_only_the_last_lines_are_read() -> None:
    logs = {("a", "app"): [f"2026-01-01T00:00:0{number}Z {number}" for number in range(5)]}
    async with connected(PodStreamServer(logs=logs)) as client:
        lines, _ = await read_logs(client, [A], LogOptions(tail_lines=2))
    assert texts(lines) == ["a:3", "a:4"]


async def test_logs_that_the_user_may_not_read_are_an_error() -> None:
    async with connected(PodStreamServer(denied={"/log"})) as client:
        with pytest.raises(Forbidden):
            await read_logs(client, [A], LogOptions())


class Follower:
    """A follower whose lines a test waits for."""

    def __init__(self, client: Client, targets: list[LogTarget]) -> None:
        self.lines: list[LogLine] = []
        self.targets = targets
        self._arrived = asyncio.Event()
        self._follower = LogFollower(client, self._read, self._show)

    async def _read(self) -> list[LogTarget]:
        return self.targets

    def _show(self, line: LogLine) -> None:
        self.lines.append(line)
        self._arrived.set()

    def start(self, options: LogOptions) -> asyncio.Task[None]:
        return asyncio.create_task(self._follower.run(options))

    async def until(self, *expected: str) -> None:
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                while texts(self.lines) != list(expected):
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError:
            raise AssertionError(
                f"waited {LIMIT_SECONDS:.0f} s for {expected}: {texts(self.lines)}"
            ) from None


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_new_lines_and_new_pods_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.cli.operations.log_streams.POLL_SECONDS", 0.02)
    logs = {("a", "app"): ["2026-01-01T00:00:01Z old", "2026-01-01T00:00:02Z last"]}
    server = PodStreamServer(logs=logs)
    async with connected(server) as client:
        follower = Follower(client, [A])
        task = follower.start(LogOptions(tail_lines=1))
        await follower.until("a:last")
        server.append_log("a", "app", "2026-01-01T00:00:02Z at the same time")
        await follower.until("a:last", "a:at the same time")
        follower.targets = [A, B]
        server.logs["b", "app"] = ["2026-01-01T00:00:00Z first", "2026-01-01T00:00:05Z second"]
        await follower.until("a:last", "a:at the same time", "b:first", "b:second")
        await ended(task)
