"""A TCP proxy that stops in the middle of a response."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass


@dataclass
class CuttingProxy:
    """Passes `budget` bytes from the server on, then closes the connection, or holds it open in silence."""

    port: int = 0
    budget: int | None = None
    holds: bool = False
    passed: int = 0

    async def _downstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1024):
            if self.budget is not None and self.passed + len(data) > self.budget:
                writer.write(data[: self.budget - self.passed])
                await writer.drain()
                if self.holds:
                    await asyncio.Event().wait()
                return
            self.passed += len(data)
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cutting_proxy(host: str, port: int) -> AsyncIterator[CuttingProxy]:
    proxy = CuttingProxy()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        upstream, up_writer = await asyncio.open_connection(host, port)
        pumps = [
            asyncio.ensure_future(_pump(reader, up_writer)),
            asyncio.ensure_future(proxy._downstream(upstream, writer)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            writer.close()
            up_writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
