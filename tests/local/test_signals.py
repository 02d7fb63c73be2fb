"""A signal lets the work clean up, whichever signal it is and however often it arrives."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from steward.local.signals import SIGNALS

WORK = """
import asyncio, sys
from steward.local.signals import Interrupted, run

async def work():
    print("started", flush=True)
    try:
        await asyncio.sleep(3600)
    finally:
        print("cleaning up", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print("cleaned up", flush=True)

try:
    run(work())
except Interrupted:
    sys.exit(130)
"""


@pytest.mark.parametrize("first", SIGNALS, ids=lambda number: number.name)
def test_a_second_signal_does_not_interrupt_the_clean_up(first: signal.Signals) -> None:
    command = [sys.executable, "-c", WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(first)
        assert process.stdout.readline() == "cleaning up\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "cleaned up\n"
        assert process.wait(timeout=60) == 130
