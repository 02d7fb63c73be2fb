import pytest

from steward.serving.connections import Connection, ConnectionState, ConnectionTable


class Client:
    """Opens connections from one address and records which of them the server closed."""

    def __init__(self, table: ConnectionTable, address: str) -> None:
        self._table = table
        self._address = address
        self.closed: list[Connection] = []

    def open(self, state: ConnectionState = ConnectionState.OPENING, deadline: float = 10.0) -> Connection:
        connection = Connection(self._address, lambda: self.closed.append(connection), deadline, state)
        self.is_admitted = self._table.add(connection)
        return connection


def test_a_new_client_replaces_the_oldest_connection_of_the_busiest() -> None:
    table = ConnectionTable(4)
    busy, few = Client(table, "10.0.0.66"), Client(table, "10.0.0.1")
    kept = few.open()
    oldest, *_ = [busy.open(deadline=time) for time in (1.0, 2.0, 3.0)]
    few.open()
    assert (busy.closed, few.closed, len(table)) == ([oldest], [], 4)
    assert kept in table


def test_the_busiest_client_replaces_only_its_own_connections() -> None:
    table = ConnectionTable(3)
    busy, few = Client(table, "10.0.0.66"), Client(table, "10.0.0.1")
    few.open()
    for _ in range(10):
        busy.open()
    assert (len(busy.closed), few.closed) == (8, [])


@pytest.mark.parametrize("clients", [2, 100])
def test_many_addresses_do_not_displace_a_client_that_is_processed(clients: int) -> None:
    table = ConnectionTable(2)
    client = Client(table, "10.0.0.1")
    client.open(ConnectionState.PROCESSING)
    for number in range(clients):
        Client(table, f"10.1.0.{number}").open()
    assert client.closed == []


def test_connections_without_a_request_are_replaced_before_idle_ones() -> None:
    table = ConnectionTable(3)
    client = Client(table, "10.0.0.1")
    client.open(ConnectionState.IDLE, deadline=1.0)
    reading = client.open(ConnectionState.READING, deadline=2.0)
    opening = client.open(ConnectionState.OPENING, deadline=3.0)
    client.open(ConnectionState.PROCESSING)
    client.open(ConnectionState.PROCESSING)
    assert client.closed == [opening, reading]


def test_a_connection_is_refused_when_every_other_is_processed() -> None:
    table = ConnectionTable(2)
    client = Client(table, "10.0.0.1")
    for _ in range(2):
        client.open(ConnectionState.PROCESSING)
    client.open()
    assert (client.is_admitted, client.closed, len(table)) == (False, [], 2)


def test_a_removed_connection_makes_room() -> None:
    table = ConnectionTable(1)
    client = Client(table, "10.0.0.1")
    first = client.open()
    for _ in range(2):
        table.remove(first)
    client.open()
    assert (client.closed, len(table)) == ([], 1)


def test_connections_expire_at_their_deadline() -> None:
    table = ConnectionTable(2)
    client = Client(table, "10.0.0.1")
    first, second = client.open(deadline=1.0), client.open(deadline=2.0)
    assert [table.expired(now) for now in (0.5, 1.0, 2.0)] == [[], [first], [first, second]]


def test_a_header_is_limited_and_nothing_may_follow_a_complete_request() -> None:
    connection = Connection("10.0.0.1", lambda: None, 10.0)
    assert [connection.may_receive(40, 100) for _ in range(3)] == [True, True, False]
    connection.begin(20.0)
    assert connection.may_receive(10_000, 100)
    connection.process()
    assert not connection.may_receive(1, 100)
    connection.finish(30.0)
    assert connection.may_receive(100, 100)
