"""Where decisions about certificates are made: in this process, or in another one that ends with the check.

The library that reads and makes certificates takes a fifth of an idle operator's memory and never gives it back, for a
few milliseconds of work an hour. So the functions of `keeping`, which are pure, can be called in a child process: the
function's name and its arguments go in, its result or its error comes out, and the child ends with the check.
"""

import asyncio
import pickle
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ParamSpec, Protocol, TypeVar

from steward.certificates.errors import CertificateError

P = ParamSpec("P")
R = TypeVar("R")

LENGTH_BYTES = 4
COMMAND = (sys.executable, "-P", "-c", f"from {__name__} import answer_calls; answer_calls()")


class Decide(Protocol):
    """Calls a pure function, somewhere."""

    async def __call__(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...


Notary = Callable[[], AbstractAsyncContextManager[Decide]]


@asynccontextmanager
async def in_this_process() -> AsyncIterator[Decide]:
    async def decide(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return function(*args, **kwargs)

    yield decide


@asynccontextmanager
async def in_another_process() -> AsyncIterator[Decide]:
    """The child lives as long as the block. Only what we sent comes back over the pipe, so pickle is safe here."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    wire = _Wire(child.stdout, child.stdin)
    try:
        yield wire.decide
    finally:
        child.stdin.close()
        if await _ends(child):
            child.kill()
            await child.wait()


async def _ends(child: asyncio.subprocess.Process) -> bool:
    """Whether the child is still there after a while: with its input closed it has no reason to be."""
    try:
        async with asyncio.timeout(5):
            await child.wait()
    except TimeoutError:
        return True
    return False


class _Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def decide(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        self._writer.write(_framed(pickle.dumps((function, args, kwargs))))
        try:
            await self._writer.drain()
            length = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
            result, error = pickle.loads(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise CertificateError("the process that makes certificates ended early") from None
        if error is not None:
            raise error
        made: R = result
        return made


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


def answer_calls() -> None:
    """The child's side: until the caller closes the pipe."""
    calls, answers = sys.stdin.buffer, sys.stdout.buffer
    while header := calls.read(LENGTH_BYTES):
        function, args, kwargs = pickle.loads(calls.read(int.from_bytes(header, "big")))
        answers.write(_framed(pickle.dumps(_outcome(function, args, kwargs))))
        answers.flush()


def _outcome(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, Exception | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error
