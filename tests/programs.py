"""Where a program is that the project builds for itself."""

import asyncio
from pathlib import Path

from steward.local import binaries
from steward.local.programs import PROGRAMS
from steward.local.progress import Silent


def program(name: str) -> Path:
    loop = asyncio.new_event_loop()
    try:
        wanted = [found for found in PROGRAMS.values() if name in found.names]
        return loop.run_until_complete(binaries.ensure(wanted, Silent()))[name]
    finally:
        loop.close()
