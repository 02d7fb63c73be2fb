"""The floor of the `idle` scenario: a process with the HTTP client and the JSON library that has made one call."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from dataclasses import asdict

import aiohttp
import msgspec

from bench.measuring.child import ChildAnswer, collect_garbage, serve
from bench.measuring.process import process_usage


async def call(url: str, authority: str, certificate: str, key: str) -> ChildAnswer:
    context = ssl.create_default_context(cafile=authority)
    context.load_cert_chain(certificate, key)
    connector = aiohttp.TCPConnector(ssl=context)
    async with (
        aiohttp.ClientSession(url, connector=connector) as session,
        session.get("/api/v1/namespaces/default") as response,
    ):
        msgspec.json.decode(await response.read())
        collect_garbage()
        return asdict(process_usage())


async def main(*connection: str) -> None:
    await serve({"call": lambda: call(*connection)})


if __name__ == "__main__":
    asyncio.run(main(*json.loads(sys.argv[1])))
