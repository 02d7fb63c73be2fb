"""A lock between processes. The kernel releases it when its holder dies, so there are no stale locks."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

_RETRY_SECONDS = 0.1


@asynccontextmanager
async def exclusive(path: Path, on_wait: Callable[[str], None]) -> AsyncIterator[None]:
    """Hold the lock at `path`; while another process holds it, call `on_wait` with its process id."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try_lock(descriptor):
            on_wait(_holder(path))
            # A blocking flock would block the event loop, and Ctrl-C with it.
            await asyncio.sleep(_RETRY_SECONDS)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(path: Path) -> str:
    return path.read_text() or "unknown"
