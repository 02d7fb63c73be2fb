"""A TCP proxy for a real database server that can refuse, stall or cut connections, and read another table.

It runs in threads: the test blocks while it waits for kubectl.
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
    """Accepts connections and never answers."""
    cuts_after: int | None = None
    """Bytes of the server's answers after which a connection is cut."""
    reads_other_table: bool = False
    """Replaces the table in queries, as if a lagging replica answered."""
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
        with _closing_all(client, upstream):
            while data := client.recv(65536):
                upstream.sendall(data.replace(REAL_TABLE, OTHER_TABLE) if self.reads_other_table else data)

    def _to_client(self, upstream: socket.socket, client: socket.socket) -> None:
        passed = 0
        with _closing_all(client, upstream):
            while data := upstream.recv(1024):
                if self.cuts_after is not None and passed + len(data) > self.cuts_after:
                    client.sendall(data[: max(0, self.cuts_after - passed)])
                    return
                passed += len(data)
                client.sendall(data)


@contextmanager
def _closing_all(*connections: socket.socket) -> Iterator[None]:
    """Shuts down, since a close is not enough: the other thread may be reading, and would keep the connection open."""
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
