"""Certificate workers: run certificate functions in this process or in a subprocess.

Importing `cryptography` takes 10 of the 66 MB of an idle operator and the process never gives it back, for a few
milliseconds of work an hour. So the functions of `renewal`, which are pure, run in a subprocess: the function and its
arguments are pickled to the subprocess, and it returns the result or the exception.
"""

import asyncio
import pickle
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import ParamSpec, Protocol, TypeVar

from steward.certificates import served_calls
from steward.certificates.errors import CertificateError
from steward.certificates.served_calls import LENGTH_BYTES, framed

P = ParamSpec("P")
R = TypeVar("R")

EXIT_SECONDS = 5.0
LINGER_SECONDS = 10.0
COMMAND = (sys.executable, "-P", "-c", f"from {served_calls.__name__} import serve_calls; serve_calls()")


class Call(Protocol):
    """Calls a pure function in the worker."""

    async def __call__(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...


CertificateWorker = Callable[[], AbstractAsyncContextManager[Call]]


@asynccontextmanager
async def in_this_process() -> AsyncIterator[Call]:
    async def call(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    yield call


@asynccontextmanager
async def in_subprocess() -> AsyncIterator[Call]:
    """The subprocess lives as long as the block. It only returns what we sent it to compute, so pickle is safe."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    connection = _Connection(child.stdout, child.stdin)
    try:
        yield connection.call
    finally:
        child.stdin.close()
        if not await _has_exited(child):
            # It may exit right now.
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def _has_exited(child: asyncio.subprocess.Process) -> bool:
    """Whether the subprocess exits within a few seconds, as it should once its standard input is closed."""
    try:
        async with asyncio.timeout(EXIT_SECONDS):
            await child.wait()
    except TimeoutError:
        return False
    return True


class _Connection:
    """Sends calls to the subprocess and reads the results, one at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        self._writer.write(framed(pickle.dumps((function, args, kwargs))))
        try:
            await self._writer.drain()
            length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
            result, error = pickle.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise CertificateError("the process that makes certificates ended early") from None
        if error is not None:
            raise error
        returned: R = result
        return returned


class SharedCertificateWorker:
    """One subprocess for all callers; it is started by the first call and exits some seconds after the last user.

    When many clusters start, the operator needs a hundred certificates within seconds, and starting a process for each
    costs more than making them. The pipe carries one call at a time; users share it call by call. This is a service of
    the manager, which ends the subprocess on stop.
    """

    name = "certificate worker"

    def __init__(self, linger: float = LINGER_SECONDS) -> None:
        self._linger = linger
        self._turn = asyncio.Lock()
        self._users = 0
        self._child: AsyncExitStack | None = None
        self._call_child: Call | None = None
        self._delayed_exit: asyncio.Task[None] | None = None

    def problem(self) -> str:
        return ""

    async def start(self) -> None:
        return

    async def stop(self) -> None:
        self._cancel_delayed_exit()
        async with self._turn:
            await self._end_child()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Call]:
        self._users += 1
        self._cancel_delayed_exit()
        try:
            yield self._call
        finally:
            self._users -= 1
            if not self._users:
                self._delayed_exit = asyncio.create_task(
                    self._end_child_later(), name="certificate worker exit"
                )

    async def _call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        async with self._turn:
            call = self._call_child or await self._start_child()
            try:
                return await call(function, *args, **kwargs)
            except BaseException:
                # A call cancelled between request and result would leave its result to the next caller.
                await self._end_child()
                raise

    async def _start_child(self) -> Call:
        self._child = AsyncExitStack()
        self._call_child = await self._child.enter_async_context(in_subprocess())
        return self._call_child

    async def _end_child(self) -> None:
        child, self._child, self._call_child = self._child, None, None
        if child is not None:
            await child.aclose()

    async def _end_child_later(self) -> None:
        await asyncio.sleep(self._linger)
        async with self._turn:
            self._delayed_exit = None
            await self._end_child()

    def _cancel_delayed_exit(self) -> None:
        """Keep the subprocess for a new user. If it is exiting already, the next call starts another one."""
        if self._delayed_exit is not None:
            self._delayed_exit.cancel()
            self._delayed_exit = None
