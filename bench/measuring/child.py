"""A child process, for measurements that need a fresh process, such as memory.

The parent writes a word to the child's standard input and gets one line of JSON back. The child ends at the end of its
input, which comes however the parent ends.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Any

ChildAnswer = dict[str, Any]
ChildHandlers = Mapping[str, Callable[[], Awaitable[ChildAnswer]]]

_END_SECONDS = 10.0


class ChildFailed(RuntimeError):
    """The child ended without an answer; its error is on standard error."""


class Child:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    async def request(self, word: str) -> ChildAnswer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n".encode())
        line = await self._process.stdout.readline()
        if not line:
            raise ChildFailed(f"the measured process ended during the request {word!r}")
        answer: ChildAnswer = json.loads(line)
        return answer

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _END_SECONDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def run_child(module: str, *arguments: str) -> AsyncIterator[Child]:
    await _compile(module)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module, *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    started = Child(process)
    try:
        yield started
    finally:
        # A second Ctrl-C may interrupt this: then the closed input ends the child.
        await asyncio.shield(started.end())


@cache
def _compile(module: str) -> asyncio.Future[None]:
    return asyncio.ensure_future(_import(module))


async def _import(module: str) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", f"import {module}")
    if await process.wait():
        raise ChildFailed(f"{module} cannot be imported")


async def serve(answers: ChildHandlers) -> None:
    """The child's side: answer until the input ends, even during an answer."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    work: asyncio.Task[None] | None = None
    while word := (await reader.readline()).decode().strip():
        work = asyncio.create_task(_answer(answers[word]))
    if work is not None:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


async def _answer(answer: Callable[[], Awaitable[ChildAnswer]]) -> None:
    try:
        found = await answer()
    except Exception:
        sys.excepthook(*sys.exc_info())
        # The parent waits for a line: signal the failure by an end of file.
        sys.stdout.close()
        return
    print(json.dumps(found), flush=True)


def collect_garbage() -> None:
    """Collect garbage before memory is measured."""
    gc.collect()
