"""Finds the programs that the project builds."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from steward.local.programs import binaries
from steward.local.programs.programs import PROGRAMS
from steward.local.progress import SilentProgress


@cache
def built_program(name: str) -> Path:
    matching = [found for found in PROGRAMS.values() if name in found.names]
    # In a thread, because the calling test may have a running event loop.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, binaries.ensure(matching, SilentProgress())).result()[name]
