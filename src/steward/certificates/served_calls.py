"""The subprocess of a certificate worker: serves calls until its parent closes the pipe.

It imports no more than it needs: asyncio alone, which the parent needs, would take 8 of its 31 MB.
"""

import pickle
import sys
from collections.abc import Callable

LENGTH_BYTES = 4


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


def serve_calls() -> None:
    calls, results = sys.stdin.buffer, sys.stdout.buffer
    while header := calls.read(LENGTH_BYTES):
        function, args, kwargs = pickle.loads(calls.read(int.from_bytes(header, "big")))
        results.write(framed(pickle.dumps(_result_or_error(function, args, kwargs))))
        results.flush()


def _result_or_error(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, Exception | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error
