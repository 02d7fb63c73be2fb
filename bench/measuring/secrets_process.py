"""The measured process of the `cold_start` scenario: one cache of Secrets with one selector."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path

from bench.measuring.child import ChildAnswer, collect_garbage, serve
from bench.measuring.engine import Engine, running_engine
from bench.measuring.process import process_usage
from steward.kube.cache.gc_pause import gc_paused
from steward.kube.cache.rules import EVERY_NAMESPACE, CacheRule
from steward.kube.objects.kinds import SECRET
from steward.kube.objects.meta import Metadata
from steward.local import control_plane as local


async def sync(running: Engine, selector: str) -> ChildAnswer:
    store = running.caches.store(CacheRule(SECRET, Metadata, {EVERY_NAMESPACE: selector}))
    with gc_paused():
        await running.sync()
    collect_garbage()
    return asdict(process_usage()) | {"objects": len(store)}


async def main(directory: str, selector: str) -> None:
    async with running_engine(local.find(Path(directory))) as running:
        await serve({"sync": lambda: sync(running, selector)})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
