"""Long work that somebody waits for: while it goes on, how far it is gets told now and then."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


async def telling_meanwhile(
    work: Coroutine[Any, Any, None], tell: Callable[[], Awaitable[None]], every: float
) -> None:
    """Ends with the work, and as the work does. When this is cancelled, so is the work."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait({task}, timeout=every))[0]:
            await tell()
    finally:
        task.cancel()
        await asyncio.wait({task})
    task.result()
