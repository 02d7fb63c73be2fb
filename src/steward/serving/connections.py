"""The open connections of a server, and which one is closed when there are too many.

A limit alone would let one client take every connection. So a new connection is always admitted, in place of one that
the busiest client holds: a client that opens few connections, such as an API server, keeps them. A client is an
address. Nothing else is known of it: an API server presents no certificate by default, and any pod can send a valid
review.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum


class ConnectionState(IntEnum):
    """Ordered by what is closed first to make room."""

    OPENING = 0
    """The TLS handshake or the header of the first request is incomplete."""
    READING = 1
    IDLE = 2
    """A request was answered; the next one has not arrived."""
    PROCESSING = 3
    """The request is complete: never closed to make room."""


@dataclass(eq=False)
class Connection:
    """`close` ends it at once; `deadline` is the time of the event loop at which the server does so."""

    address: str
    close: Callable[[], object]
    deadline: float
    state: ConnectionState = ConnectionState.OPENING
    header_bytes: int = 0

    def begin(self, deadline: float) -> None:
        """The header of a request is complete."""
        self.state, self.deadline, self.header_bytes = ConnectionState.READING, deadline, 0

    def process(self) -> None:
        """The request is complete: the client sends nothing until it has the response."""
        self.state = ConnectionState.PROCESSING

    def finish(self, deadline: float) -> None:
        self.state, self.deadline = ConnectionState.IDLE, deadline

    def may_receive(self, count: int, header_limit: int) -> bool:
        """Whether the client may send so many bytes now.

        Before a request: as many as a header has. During the body: any number, which its reader limits. After it: none,
        because the parser would keep further requests in memory, and an API server waits for its response.
        """
        if self.state in (ConnectionState.READING, ConnectionState.PROCESSING):
            return self.state is ConnectionState.READING
        self.header_bytes += count
        return self.header_bytes <= header_limit


class ConnectionTable:
    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._by_address: defaultdict[str, dict[Connection, None]] = defaultdict(dict)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Connection]:
        return (connection for group in self._by_address.values() for connection in group)

    def add(self, connection: Connection) -> bool:
        """Admit a connection, if necessary in place of another; False if none may be closed."""
        if self._count >= self._capacity:
            replaced = self._replaceable(connection.address)
            if replaced is None:
                return False
            self.remove(replaced)
            replaced.close()
        self._by_address[connection.address][connection] = None
        self._count += 1
        return True

    def remove(self, connection: Connection) -> None:
        group = self._by_address.get(connection.address, {})
        if connection in group:
            del group[connection]
            self._count -= 1
            if not group:
                del self._by_address[connection.address]

    def expired(self, now: float) -> list[Connection]:
        return [connection for connection in self if connection.deadline <= now]

    def _replaceable(self, newcomer: str) -> Connection | None:
        """From the address with the most connections, but never from one with fewer than the newcomer has."""
        own = len(self._by_address.get(newcomer, ()))
        groups = sorted(self._by_address.values(), key=len, reverse=True)
        candidates = (first_to_close(group) for group in groups if len(group) >= own)
        return next((found for found in candidates if found is not None), None)


def first_to_close(connections: Iterable[Connection]) -> Connection | None:
    """The one that has waited longest in the state that matters least; None if all are processing."""
    waiting = [one for one in connections if one.state is not ConnectionState.PROCESSING]
    return min(waiting, key=lambda one: (one.state, one.deadline), default=None)
