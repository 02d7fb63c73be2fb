"""Work that is told to end ends in order, whoever tells it and however often."""

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
    print("begun", flush=True)
    try:
        await asyncio.sleep(3600)
    finally:
        print("ending", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        print("ended in order", flush=True)

try:
    run(work())
except Interrupted:
    sys.exit(130)
"""


@pytest.mark.parametrize("first", SIGNALS, ids=lambda number: number.name)
def test_a_second_signal_does_not_end_the_ending(first: signal.Signals) -> None:
    command = [sys.executable, "-c", WORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(first)
        assert process.stdout.readline() == "ending\n"
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ended in order\n"
        assert process.wait() == 130
