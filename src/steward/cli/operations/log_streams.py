"""Reads the logs of several containers: merged by time, or followed as they are written.

Containers that cannot be read, because they have not started or their pod is gone, do not hide the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from steward.cli.operations.log_targets import LogTarget
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, KubeError
from steward.kube.objects.options import LogQuery

POLL_SECONDS = 2.0
RESUME_SECONDS = 60
"""How far back the log of a container is read that is followed again; lines that were shown are left out."""
FOLLOW_SECONDS = 7 * 24 * 3600.0
_UNKNOWN_TIME = "0001-01-01T00:00:00+00:00"


class LogLine(NamedTuple):
    time: str
    target: LogTarget
    text: str


class LogOptions(NamedTuple):
    tail_lines: int | None = None
    since_seconds: int | None = None
    previous: bool = False

    def query(self, target: LogTarget) -> LogQuery:
        return LogQuery(
            container=target.container,
            tail_lines=self.tail_lines,
            since_seconds=self.since_seconds,
            previous=self.previous,
        )


def log_line(target: LogTarget, raw: bytes) -> LogLine:
    """Splits the time off, which the kubelet writes before each line."""
    time, _, text = raw.decode("utf-8", "replace").partition(" ")
    return LogLine(time, target, text.rstrip("\r"))


def by_time(line: LogLine) -> datetime:
    """Nodes may write times with different numbers of digits, and with different offsets."""
    with suppress(ValueError):
        found = datetime.fromisoformat(line.time)
        if found.tzinfo is not None:
            return found
    return datetime.fromisoformat(_UNKNOWN_TIME)


def merge_logs(logs: Iterable[list[LogLine]]) -> list[LogLine]:
    """Lines of one container stay in their order."""
    return sorted((line for log in logs for line in log), key=by_time)


class LogProblem(NamedTuple):
    """Why the log of a container cannot be read."""

    target: LogTarget
    message: str


async def read_logs(
    client: Client, targets: Iterable[LogTarget], options: LogOptions
) -> tuple[list[LogLine], list[LogProblem]]:
    """All lines, merged, and the containers without a readable log."""
    found = await asyncio.gather(*(_read_log(client, target, options) for target in targets))
    problems = [each for each in found if isinstance(each, LogProblem)]
    return merge_logs(each for each in found if not isinstance(each, LogProblem)), problems


async def _read_log(client: Client, target: LogTarget, options: LogOptions) -> list[LogLine] | LogProblem:
    try:
        body = await client.read_log(target.pod, options.query(target))
    except Forbidden:
        raise
    except KubeError as error:
        return LogProblem(target, str(error))
    return [log_line(target, raw) for raw in body.split(b"\n") if raw]


class LogFollower:
    """Follows all containers that `targets` returns, and those that it returns later: pods come and go."""

    def __init__(
        self,
        client: Client,
        targets: Callable[[], Awaitable[list[LogTarget]]],
        show: Callable[[LogLine], None],
    ) -> None:
        self._client = client.with_timeout(FOLLOW_SECONDS)
        self._targets = targets
        self._show = show
        self._tasks: dict[LogTarget, asyncio.Task[None]] = {}
        self._last: dict[LogTarget, str] = {}
        """The time of the last line of each container."""

    async def run(self, options: LogOptions) -> None:
        """Until cancelled."""
        later = options._replace(tail_lines=None)
        try:
            while True:
                for target in await self._targets():
                    self._start(target, options)
                # What starts from now on is shown from its first line.
                options = later
                await asyncio.sleep(POLL_SECONDS)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _start(self, target: LogTarget, options: LogOptions) -> None:
        """Starts again what has ended: a container that restarts writes a new log."""
        task = self._tasks.get(target)
        if task is not None and not task.done():
            return
        if task is not None:
            task.result()
            options = options._replace(since_seconds=RESUME_SECONDS)
        self._tasks[target] = asyncio.create_task(self._follow(target, options))

    async def _follow(self, target: LogTarget, options: LogOptions) -> None:
        shown_until = self._last.get(target, "")
        try:
            async for line in self._lines(target, options):
                if line.time > shown_until:
                    self._last[target] = line.time
                    self._show(line)
        except Forbidden:
            raise
        except KubeError:
            # Not started yet, gone, or on a node that does not answer: tried again as long as its pod exists.
            return

    async def _lines(self, target: LogTarget, options: LogOptions) -> AsyncIterator[LogLine]:
        query = options.query(target)
        following = LogQuery(
            container=query.container,
            follow=True,
            tail_lines=query.tail_lines,
            since_seconds=query.since_seconds,
        )
        async with self._client.follow_log(target.pod, following) as lines:
            async for raw in lines:
                yield log_line(target, raw)
