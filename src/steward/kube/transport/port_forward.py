"""Connections to a port of a pod through the API server, as `kubectl port-forward` makes them.

Each connection is one WebSocket with the subprotocol `v4.channel.k8s.io`, which the API server passes on to kubelets.
Every message begins with the number of a channel: 0 carries the data, 1 an error. The first message of each channel is
the port, in two bytes. The subprotocol cannot close one direction alone: an end of either side ends the connection.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple

import aiohttp

from steward.kube.auth.credentials import credentials_for
from steward.kube.auth.tls import TlsContexts
from steward.kube.clock import SystemClock
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import TransportError
from steward.kube.objects.kinds import Key

SUBPROTOCOL: Final = "v4.channel.k8s.io"
DATA, ERROR = 0, 1
CHUNK: Final = 1 << 16
HEARTBEAT_SECONDS: Final = 30.0
_HANDSHAKE_SECONDS: Final = 30.0


class ForwardError(TransportError):
    """The port of the pod cannot be reached; the message says why."""


class PodPort(NamedTuple):
    pod: Key
    port: int

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.pod.namespace}/pods/{self.pod.name}/portforward?ports={self.port}"

    def __str__(self) -> str:
        return f"port {self.port} of pod {self.pod}"


class PortForwarder:
    """Opens connections to pods with the credentials of the settings."""

    def __init__(self, settings: ConnectionSettings) -> None:
        clock = SystemClock()
        self._server = settings.server.rstrip("/")
        self._settings = settings
        self._credentials = credentials_for(settings.auth, clock)
        self._contexts = TlsContexts(settings.tls, clock)
        self._proxy = choose_proxy(self._server, settings.proxy, os.environ) or None

    @asynccontextmanager
    async def connect(self, target: PodPort) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        credentials = await self._credentials.current()
        impersonation = self._settings.impersonation
        headers = [*impersonation.headers()] if impersonation else []
        if credentials.authorization:
            headers.append(("Authorization", credentials.authorization))
        secure = self._server.startswith("https")
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_HANDSHAKE_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            try:
                socket = await session.ws_connect(
                    self._server + target.path,
                    protocols=(SUBPROTOCOL,),
                    headers=headers,
                    ssl=self._contexts.current(credentials.certificate) if secure else True,
                    server_hostname=(self._settings.tls.server_name or None) if secure else None,
                    proxy=self._proxy,
                    heartbeat=HEARTBEAT_SECONDS,
                    max_msg_size=0,
                )
            except (aiohttp.ClientError, TimeoutError) as error:
                raise ForwardError(_refusal(target, error)) from error
            async with socket:
                if socket.protocol != SUBPROTOCOL:
                    raise ForwardError(f"the server does not speak {SUBPROTOCOL} for {target}")
                yield socket


def _refusal(target: PodPort, error: Exception) -> str:
    if not isinstance(error, aiohttp.WSServerHandshakeError):
        return f"cannot reach {target}: {error or type(error).__name__}"
    if error.status == 403:
        return (
            f"cannot reach {target}: it needs the rights to get and create pods/portforward in the namespace"
        )
    return f"cannot reach {target}: the API server answers with status {error.status}"


async def forward_streams(
    socket: aiohttp.ClientWebSocketResponse,
    target: PodPort,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Copies both directions until one side ends. Raises ForwardError if the pod reports an error."""
    sending = asyncio.create_task(_send(socket, reader))
    receiving = asyncio.create_task(_receive(socket, target, writer))
    try:
        await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        if receiving.done():
            receiving.result()
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.gather(sending, receiving, return_exceptions=True)


async def _send(socket: aiohttp.ClientWebSocketResponse, reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(CHUNK):
            await socket.send_bytes(bytes((DATA,)) + chunk)


async def _receive(
    socket: aiohttp.ClientWebSocketResponse, target: PodPort, writer: asyncio.StreamWriter
) -> None:
    opened: set[int] = set()
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, content = message.data[0], message.data[1:]
        if channel not in opened:
            opened.add(channel)
            content = content[2:]
        if channel == ERROR and content:
            raise ForwardError(f"cannot reach {target}: {content.decode('utf-8', 'replace').strip()}")
        if channel == DATA and content:
            writer.write(content)
            with suppress(ConnectionError):
                await writer.drain()
