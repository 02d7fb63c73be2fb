"""A TCP proxy before a real database server that can be told to refuse, to fall silent, to cut answers, and to lie.

In threads: the test that stands beside it waits for kubectl in between.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

REAL_TABLE, OTHER_TABLE = b"customers", b"customerz"


@dataclass
class DatabaseProxy:
    port: int = 0
    refuses: bool = False
    is_silent: bool = False
    """Takes connections and never says a word."""
    cuts_after: int | None = None
    """How many bytes of the server's answers a connection gets before it is cut."""
    lies: bool = False
    """Asks the server for another table than the client does, as a replica that lags behind would answer."""
    connections: int = 0
    _open: list[socket.socket] = field(default_factory=list)

    def cut_all(self) -> None:
        while self._open:
            with suppress(OSError), self._open.pop() as connection:
                connection.shutdown(socket.SHUT_RDWR)

    def serve(self, client: socket.socket, server: tuple[str, int]) -> None:
        self.connections += 1
        self._open.append(client)
        if self.refuses:
            client.close()
        elif not self.is_silent:
            upstream = socket.create_connection(server)
            self._open.append(upstream)
            threading.Thread(target=self._to_server, args=(client, upstream), daemon=True).start()
            threading.Thread(target=self._to_client, args=(upstream, client), daemon=True).start()

    def _to_server(self, client: socket.socket, upstream: socket.socket) -> None:
        with _ended_together(client, upstream):
            while data := client.recv(65536):
                upstream.sendall(data.replace(REAL_TABLE, OTHER_TABLE) if self.lies else data)

    def _to_client(self, upstream: socket.socket, client: socket.socket) -> None:
        passed = 0
        with _ended_together(client, upstream):
            while data := upstream.recv(1024):
                if self.cuts_after is not None and passed + len(data) > self.cuts_after:
                    client.sendall(data[: max(0, self.cuts_after - passed)])
                    return
                passed += len(data)
                client.sendall(data)


@contextmanager
def _ended_together(*connections: socket.socket) -> Iterator[None]:
    """Shut down, not only closed: the other thread may be reading, and would keep the connection open."""
    with suppress(OSError):
        yield
    for connection in connections:
        with suppress(OSError), connection:
            connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def database_proxy(server: tuple[str, int]) -> Iterator[DatabaseProxy]:
    proxy = DatabaseProxy()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy.port = listener.getsockname()[1]

        def accept() -> None:
            with suppress(OSError):
                while True:
                    proxy.serve(listener.accept()[0], server)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield proxy
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            proxy.cut_all()
