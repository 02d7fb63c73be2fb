"""A scenario from its first line to its last: Ctrl-C and SIGTERM end it in order, with nothing left behind."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable

from bench.measuring.bytecode import keep_bytecode
from bench.measuring.report import Report
from steward.local.errors import LocalError

INTERRUPTED = 130


def run(measure: Callable[[Report], Awaitable[None]], report: Report) -> int:
    """The exit code. Targets that were missed are in the table: how fast a machine is today is no failure."""
    keep_bytecode()
    try:
        asyncio.run(_until_signalled(measure(report)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"{report.scenario} was interrupted", file=sys.stderr)
        return INTERRUPTED
    except LocalError as error:
        print(f"{report.scenario}: {error}", file=sys.stderr)
        return 1
    report.publish()
    return 0


async def _until_signalled(work: Awaitable[None]) -> None:
    task = asyncio.current_task()
    assert task is not None
    # SIGINT is asyncio.run's own business; without this SIGTERM would end Python where it stands.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await work
