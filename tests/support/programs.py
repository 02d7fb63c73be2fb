"""Where a program is that the project builds for itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import Silent


@cache
def program(name: str) -> Path:
    wanted = [found for found in PROGRAMS.values() if name in found.names]
    # In a thread of its own, since the first test that asks may have an event loop running.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, binaries.ensure(wanted, Silent())).result()[name]
