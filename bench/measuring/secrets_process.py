"""The measured process of the `cold_start` scenario: one cache of Secrets under one selector."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path

from bench.measuring.child import Answer, serve, tidy
from bench.measuring.engine import Engine, engine
from bench.measuring.process import usage
from steward.kube.cache.gc_pause import collector_paused
from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects.kinds import SECRET
from steward.kube.objects.meta import Metadata
from steward.local import control_plane as local


async def sync(running: Engine, selector: str) -> Answer:
    store = running.caches.store(CacheRule(SECRET, Metadata, {EVERY_NAMESPACE: selector}))
    with collector_paused():
        await running.sync()
    tidy()
    return asdict(usage()) | {"objects": len(store)}


async def main(directory: str, selector: str) -> None:
    async with engine(local.find(Path(directory))) as running:
        await serve({"sync": lambda: sync(running, selector)})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
