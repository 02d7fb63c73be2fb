"""Runs long pure computations in a thread, so that the event loop keeps answering probes and renewing the lease.

There is one thread for the whole process: the interpreter runs one thread at a time anyway, and each further one would
make the event loop wait longer for its turn. A computation that is not awaited any more does not start; one that has
started runs to its end, so only computations whose work is bounded belong here.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

_THREAD: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compute")


async def compute(work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(_THREAD, work)
