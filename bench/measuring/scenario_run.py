"""Runs a scenario; Ctrl-C and SIGTERM end it in order, with all clean-up, and show what was measured before."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable

from bench.measuring.bytecode import enable_bytecode_cache
from bench.measuring.report import Report
from steward.local.errors import LocalError

INTERRUPTED = 130


def run(measure: Callable[[Report], Awaitable[None]], report: Report) -> int:
    """Run a scenario and return the exit code. A missed target is shown in the table, but is no failure."""
    enable_bytecode_cache()
    try:
        asyncio.run(_until_signalled(measure(report)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"{report.scenario} was interrupted", file=sys.stderr)
        if report.figures:
            report.note("interrupted: not all of it was measured")
            report.publish()
        return INTERRUPTED
    except LocalError as error:
        print(f"{report.scenario}: {error}", file=sys.stderr)
        return 1
    report.publish()
    return 0


async def _until_signalled(work: Awaitable[None]) -> None:
    task = asyncio.current_task()
    assert task is not None
    # asyncio.run handles SIGINT; without this SIGTERM would end Python without clean-up.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await work
