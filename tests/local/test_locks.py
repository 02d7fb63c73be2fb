from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from steward.local.locks import exclusive

HOLDER = """
import asyncio, sys, pathlib
from steward.local.locks import exclusive
async def hold():
    async with exclusive(pathlib.Path(sys.argv[1]), lambda pid: None):
        print("held", flush=True)
        await asyncio.sleep(600)
asyncio.run(hold())
"""


async def test_the_second_process_waits_and_learns_the_holders_pid(tmp_path: Path) -> None:
    lock, waited_for = tmp_path / "lock", asyncio.Event()
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdout=subprocess.PIPE)
    holders: list[str] = []

    def on_wait(pid: str) -> None:
        holders.append(pid)
        waited_for.set()

    async def second() -> None:
        async with exclusive(lock, on_wait):
            pass

    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        task = asyncio.create_task(second())
        await waited_for.wait()
        assert holders[0] == str(holder.pid)
    finally:
        # Killed before it can release the lock: the kernel releases it.
        holder.kill()
        holder.communicate(timeout=60)
    await task
