"""What a hostile MySQL server does to a client that reads `SELECT id, url, active FROM …`.

`ATTACKS` has a script for each attack, to be played by `hostile_server`. Each accepts every password.
"""

import struct
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType

from tests.attacks.support.hostile_server import Peer, Script

# LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000
OK = b"\x00\x00\x00\x02\x00\x00\x00"
END = b"\xfe\x00\x00\x02\x00"
FULL_PACKET = 0xFFFFFF
COLUMNS = (b"id", b"url", b"active")
PIECE = bytes(1 << 20)
ASTRAL = "\U0001f4a5".encode()
"""A character that takes four bytes in UTF-8 and in memory."""


class MySqlPeer:
    """A client, and the number of the next packet to it."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.number = 0

    def packet(self, payload: bytes) -> None:
        self.head(len(payload))
        self.peer.send(payload)

    def head(self, size: int) -> None:
        """The head of a packet, whose content may never come."""
        self.peer.send(size.to_bytes(3, "little") + bytes([self.number]))
        self.number = (self.number + 1) % 256

    def receive(self) -> bytes:
        head = self.peer.receive(4)
        self.number = (head[3] + 1) % 256
        return self.peer.receive(int.from_bytes(head[:3], "little"))

    def log_in(self) -> None:
        self.packet(greeting())
        self.receive()
        self.packet(OK)

    def until_select(self) -> None:
        """Logs the client in, and accepts every statement until it selects."""
        self.log_in()
        while not self.receive().startswith(b"\x03SELECT"):
            self.packet(OK)

    def columns(self) -> None:
        self.packet(bytes([len(COLUMNS)]))
        for name in COLUMNS:
            self.packet(column(name))
        self.packet(END)

    def error(self, code: int, text: bytes) -> None:
        self.packet(b"\xff" + struct.pack("<H", code) + b"#HY000" + text)


def greeting(plugin: bytes = b"mysql_native_password") -> bytes:
    salt = b"0123456789abcdefghij"
    return (
        b"\x0a8.4.0\0"
        + struct.pack("<I", 1)
        + salt[:8]
        + b"\0"
        + struct.pack("<HBHH", CAPABILITIES & 0xFFFF, 255, 2, CAPABILITIES >> 16)
        + bytes([21])
        + bytes(10)
        + salt[8:]
        + b"\0"
        + plugin
        + b"\0"
    )


def text(value: bytes) -> bytes:
    """A text with its length, as packets contain it."""
    size = len(value)
    if size < 251:
        return bytes([size]) + value
    return b"\xfd" + size.to_bytes(3, "little") + value


def column(name: bytes, kind: int = 253) -> bytes:
    texts = b"".join(map(text, (b"def", b"", b"", b"", name, name)))
    return texts + b"\x0c" + struct.pack("<HIBHB", 255, 99, kind, 0, 0) + b"\0\0"


def row(*values: bytes) -> bytes:
    return b"".join(map(text, values))


def _endless_row(mysql: MySqlPeer) -> None:
    """One row, in packets of which each is continued by the next."""
    mysql.until_select()
    mysql.columns()
    while True:
        mysql.head(FULL_PACKET)
        for _ in range(FULL_PACKET >> 20):
            mysql.peer.send(PIECE)
        mysql.peer.send(PIECE[: FULL_PACKET & 0xFFFFF])


def _endless_rows(mysql: MySqlPeer) -> None:
    """Active rows with astral characters, each below every limit."""
    mysql.until_select()
    mysql.columns()
    for number in count():
        mysql.packet(row(b"t%d" % number, ASTRAL * 60_000, b"1"))


def _endless_tiny_rows(mysql: MySqlPeer) -> None:
    """Faster than any client takes them: thousands at once."""
    mysql.until_select()
    mysql.columns()
    number = 0
    while True:
        rows = []
        for _ in range(10_000):
            payload = row(b"%d" % number, b"", b"")
            rows.append(len(payload).to_bytes(3, "little") + bytes([mysql.number]) + payload)
            mysql.number = (mysql.number + 1) % 256
            number += 1
        mysql.peer.send(b"".join(rows))


def _endless_columns(mysql: MySqlPeer) -> None:
    mysql.until_select()
    mysql.packet(b"\xfd\xff\xff\xff")
    while True:
        mysql.packet(column(b"id"))


def _endless_greeting(mysql: MySqlPeer) -> None:
    while True:
        mysql.head(FULL_PACKET)
        for _ in range(16):
            mysql.peer.send(PIECE)


def _endless_login(mysql: MySqlPeer) -> None:
    """After the login method is changed, packets that end nothing."""
    mysql.packet(greeting(b"caching_sha2_password"))
    mysql.receive()
    while True:
        mysql.packet(b"\x01\x04")


def _rows_of_a_statement(mysql: MySqlPeer) -> None:
    """Rows for a statement of the session, which has none."""
    mysql.log_in()
    mysql.receive()
    mysql.columns()
    while True:
        mysql.packet(row(b"a", b"b" * 100_000, b"1"))


def _endless_results(mysql: MySqlPeer) -> None:
    """Results that announce another one."""
    mysql.until_select()
    while True:
        mysql.columns()
        mysql.packet(b"\xfe\x00\x00\x0a\x00")


def _endless_empty_packets(mysql: MySqlPeer) -> None:
    mysql.until_select()
    mysql.columns()
    while True:
        mysql.packet(b"")


def _file_request(mysql: MySqlPeer) -> None:
    mysql.until_select()
    mysql.packet(b"\xfb/etc/passwd")
    mysql.peer.server.received.append(mysql.peer.receive(1))


def _long_values(mysql: MySqlPeer) -> None:
    """A value that is longer than its packet."""
    mysql.until_select()
    mysql.columns()
    mysql.packet(b"\x01a\xfe" + struct.pack("<Q", 1 << 62) + b"x\x011")
    mysql.peer.wait_until_hung_up()


def drip(peer: Peer) -> None:
    """A row that arrives byte by byte, and never completely."""
    mysql = MySqlPeer(peer)
    mysql.until_select()
    mysql.columns()
    mysql.head(FULL_PACKET)
    peer.drip()


def drip_greeting(peer: Peer) -> None:
    MySqlPeer(peer).head(60_000)
    peer.drip()


def _long_error(mysql: MySqlPeer) -> None:
    mysql.until_select()
    mysql.error(1064, b"\x1b[31m\n" + b"forged line " * 50_000)
    mysql.peer.wait_until_hung_up()


ATTACKS: Mapping[str, Script] = MappingProxyType(
    {
        attack.__name__.strip("_"): lambda peer, attack=attack: attack(MySqlPeer(peer))  # type: ignore[misc]
        for attack in (
            _endless_row, _endless_rows, _endless_tiny_rows, _endless_columns, _endless_greeting, _endless_login,
            _rows_of_a_statement, _endless_results, _endless_empty_packets, _file_request, _long_values, _long_error,
        )
    }
)  # fmt: skip
