"""A TCP server on loopback that plays a script to each client, and counts what it sent.

    def flood(peer: Peer) -> None:
        peer.send_until_refused(bytes(1 << 20))

    with hostile_server(flood) as server:
        ...                         # connect a client to 127.0.0.1:server.port
    assert server.sent < 8 << 20

A script runs in a thread for each connection, and ends when the client hangs up. No script sends more than
`MAX_SENT` bytes over a connection, so that a client without limits fails its test and not the machine.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

MAX_SENT = 512 << 20
SILENCE_SECONDS = 120.0


class Refused(Exception):
    """The client has hung up, or has received as much as a script may send."""


@dataclass
class HostileServer:
    port: int
    sent: int = 0
    """Bytes that were handed to the kernel, over all connections."""
    connections: int = 0
    received: list[bytes] = field(default_factory=list)
    """What scripts have recorded of the clients."""
    open: list[socket.socket] = field(default_factory=list)
    closed: threading.Event = field(default_factory=threading.Event)
    """Set when the server ends."""


class Peer:
    """The connection to one client."""

    def __init__(self, server: HostileServer, connection: socket.socket) -> None:
        self.server = server
        self._closed = server.closed
        self._connection = connection
        self._sent = 0

    def send(self, data: bytes) -> None:
        if self._sent > MAX_SENT:
            raise Refused("the client takes too much")
        try:
            self._connection.sendall(data)
        except OSError as error:
            raise Refused("the client has hung up") from error
        self._sent += len(data)
        self.server.sent += len(data)

    def send_until_refused(self, data: bytes) -> None:
        """The same bytes again and again."""
        while True:
            self.send(data)

    def drip(self) -> None:
        """A byte ten times a second, so that the client never hears silence and never gets much."""
        while not self._closed.wait(0.1):
            self.send(b"x")

    def receive(self, count: int) -> bytes:
        """Exactly so many bytes."""
        found = b""
        while len(found) < count:
            try:
                part = self._connection.recv(count - len(found))
            except OSError as error:
                raise Refused("the client is silent or has hung up") from error
            if not part:
                raise Refused("the client has hung up")
            found += part
        return found

    def wait_until_hung_up(self) -> None:
        """Reads and drops what the client sends."""
        while True:
            self.receive(1)


Script = Callable[[Peer], None]


@contextmanager
def hostile_server(script: Script) -> Iterator[HostileServer]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = HostileServer(listening.getsockname()[1])
    threads: list[threading.Thread] = []
    accepting = threading.Thread(target=_accept, args=(server, listening, script, threads))
    accepting.start()
    try:
        yield server
    finally:
        server.closed.set()
        for each in (listening, *server.open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        listening.close()
        for thread in (accepting, *threads):
            thread.join()


def _accept(
    server: HostileServer, listening: socket.socket, script: Script, threads: list[threading.Thread]
) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        connection.settimeout(SILENCE_SECONDS)
        server.connections += 1
        server.open.append(connection)
        thread = threading.Thread(target=_play, args=(script, Peer(server, connection), connection))
        thread.start()
        threads.append(thread)


def _play(script: Script, peer: Peer, connection: socket.socket) -> None:
    with suppress(Refused), connection:
        script(peer)
