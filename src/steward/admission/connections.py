"""Closes the connections of a server that stops, without waiting long for the other side.

A TLS connection ends by a good-bye of both sides, and asyncio waits half a minute for the other one's. An API server
that keeps an idle connection may take its time, and the process that stops has none.
"""

import asyncio
from asyncio.trsock import TransportSocket
from typing import NamedTuple

from aiohttp import web

GOOD_BYES = 50
GOOD_BYE_SECONDS = 0.005


class Wire(NamedTuple):
    transport: asyncio.Transport
    socket: TransportSocket

    @property
    def is_open(self) -> bool:
        return self.socket.fileno() >= 0


def open_wires(runner: web.ServerRunner) -> list[Wire]:
    """The connections of a server: to be asked before it is cleaned up, which forgets them."""
    connections = runner.server.connections if runner.server else []
    transports = [connection.transport for connection in connections if connection.transport]
    return [Wire(transport, transport.get_extra_info("socket")) for transport in transports]


async def hang_up(wires: list[Wire]) -> None:
    """Give the good-byes a moment, then close whatever the other side leaves open."""
    for _ in range(GOOD_BYES):
        if not any(wire.is_open for wire in wires):
            return
        await asyncio.sleep(GOOD_BYE_SECONDS)
    for wire in wires:
        if wire.is_open:
            wire.transport.abort()
    await asyncio.sleep(0)
