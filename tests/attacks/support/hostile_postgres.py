"""What a hostile PostgreSQL server does to a client that copies rows with the columns id, url and active.

`ATTACKS` has a script for each attack, to be played by `hostile_server`. Each accepts every password.
"""

import base64
import struct
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType

from tests.attacks.support.hostile_server import Peer, Script

PIECE = b"x" * (1 << 20)
ASTRAL = "\U0001f4a5".encode()
LONGEST = 2**31 - 1


class PostgresPeer:
    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def message(self, letter: bytes, content: bytes = b"") -> None:
        self.head(letter, 4 + len(content))
        self.peer.send(content)

    def head(self, letter: bytes, length: int) -> None:
        """The head of a message, whose content may never come."""
        self.peer.send(letter + struct.pack(">i", length))

    def receive(self) -> tuple[bytes, bytes]:
        letter = self.peer.receive(1)
        (length,) = struct.unpack(">i", self.peer.receive(4))
        return letter, self.peer.receive(length - 4)

    def start(self) -> None:
        """Receives the first message, which has no letter."""
        (length,) = struct.unpack(">i", self.peer.receive(4))
        self.peer.receive(length - 4)

    def log_in(self) -> None:
        self.start()
        self.message(b"R", struct.pack(">i", 0))
        self.setting("client_encoding", "UTF8")
        self.setting("server_version", "17.0")
        self.message(b"K", struct.pack(">ii", 1, 1))
        self.message(b"Z", b"I")

    def setting(self, name: str, value: str) -> None:
        self.message(b"S", f"{name}\0{value}\0".encode())

    def until_copy(self, copies: int = 2) -> None:
        """Logs the client in, and accepts every statement until it copies the rows: the columns are copied first."""
        self.log_in()
        while True:
            _, statement = self.receive()
            if statement.startswith(b"COPY"):
                copies -= 1
                self.message(b"H", struct.pack(">bhhhh", 0, 3, 0, 0, 0))
                if not copies:
                    return
                self.end_copy(0)
            else:
                self.message(b"C", b"SET\0")
                self.message(b"Z", b"T")

    def end_copy(self, rows: int) -> None:
        self.message(b"c")
        self.message(b"C", b"COPY %d\0" % rows)
        self.message(b"Z", b"T")

    def error(self, code: bytes, text: bytes) -> None:
        self.message(b"E", b"SERROR\0VERROR\0C" + code + b"\0M" + text + b"\0\0")
        self.message(b"Z", b"E")


def _endless_row(postgres: PostgresPeer) -> None:
    """One message of two gigabytes, without the end of a line."""
    postgres.until_copy()
    postgres.head(b"d", LONGEST)
    postgres.peer.send(b"a\t")
    postgres.peer.send_until_refused(PIECE)


def _endless_line(postgres: PostgresPeer) -> None:
    """One row in endless messages."""
    postgres.until_copy()
    while True:
        postgres.message(b"d", PIECE)


def _endless_rows(postgres: PostgresPeer) -> None:
    """Active rows with astral characters, each below every limit."""
    postgres.until_copy()
    for number in count():
        postgres.message(b"d", b"t%d\t%b\t1\n" % (number, ASTRAL * 60_000))


def _endless_columns(postgres: PostgresPeer) -> None:
    """The copy of the columns never ends, and each has a long name."""
    postgres.until_copy(copies=1)
    for number in count():
        postgres.message(b"d", b"%d%b\tS\ttext\n" % (number, b"n" * 100_000))


def _endless_notices(postgres: PostgresPeer) -> None:
    postgres.until_copy()
    while True:
        postgres.message(b"N", b"SNOTICE\0VNOTICE\0C00000\0M" + b"n" * 100_000 + b"\0\0")


def _endless_settings(postgres: PostgresPeer) -> None:
    """The driver keeps each of them."""
    postgres.start()
    postgres.message(b"R", struct.pack(">i", 0))
    for number in count():
        postgres.setting(f"setting{number}", "v" * 10_000)


def _endless_empty_messages(postgres: PostgresPeer) -> None:
    postgres.until_copy()
    postgres.peer.send_until_refused((b"d" + struct.pack(">i", 4)) * 10_000)


def _long_message(postgres: PostgresPeer) -> None:
    """A message that is no row, of two gigabytes."""
    postgres.until_copy()
    postgres.head(b"E", LONGEST)
    postgres.peer.send_until_refused(PIECE)


def _rows_of_a_statement(postgres: PostgresPeer) -> None:
    """Rows for a statement of the session, which has none."""
    postgres.log_in()
    postgres.receive()
    content = struct.pack(">h", 1) + struct.pack(">i", 100_000) + b"x" * 100_000
    while True:
        postgres.message(b"D", content)


def _endless_hashing(postgres: PostgresPeer) -> None:
    """The login demands that the password is hashed two billion times."""
    postgres.start()
    postgres.message(b"R", struct.pack(">i", 10) + b"SCRAM-SHA-256\0\0")
    _, first = postgres.receive()
    nonce = first.rpartition(b"r=")[2]
    salt = base64.b64encode(b"salt" * 4)
    postgres.message(b"R", struct.pack(">i", 11) + b"r=%bserver,s=%b,i=2000000000" % (nonce, salt))
    postgres.peer.wait_until_hung_up()


def drip(peer: Peer) -> None:
    """A row that arrives byte by byte, and never completely."""
    postgres = PostgresPeer(peer)
    postgres.until_copy()
    postgres.head(b"d", LONGEST)
    peer.drip()


def drip_greeting(peer: Peer) -> None:
    postgres = PostgresPeer(peer)
    postgres.start()
    postgres.head(b"R", 10_000)
    peer.drip()


def _long_error(postgres: PostgresPeer) -> None:
    postgres.until_copy()
    postgres.error(b"22000", b"\x1b[31m\n" + b"forged line " * 50_000)
    postgres.peer.wait_until_hung_up()


def _wrong_count(postgres: PostgresPeer) -> None:
    """Fewer rows than the server says."""
    postgres.until_copy()
    postgres.message(b"d", b"a\tb\tt\n")
    postgres.end_copy(2)
    postgres.peer.wait_until_hung_up()


def _wrong_direction(postgres: PostgresPeer) -> None:
    """Asks the client for rows."""
    postgres.log_in()
    while not postgres.receive()[1].startswith(b"COPY"):
        postgres.message(b"C", b"SET\0")
        postgres.message(b"Z", b"T")
    postgres.message(b"G", struct.pack(">bhhhh", 0, 3, 0, 0, 0))
    postgres.peer.wait_until_hung_up()


ATTACKS: Mapping[str, Script] = MappingProxyType(
    {
        attack.__name__.strip("_"): lambda peer, attack=attack: attack(PostgresPeer(peer))  # type: ignore[misc]
        for attack in (
            _endless_row, _endless_line, _endless_rows, _endless_columns, _endless_notices, _endless_settings,
            _endless_empty_messages, _long_message, _rows_of_a_statement, _endless_hashing, _long_error,
            _wrong_count, _wrong_direction,
        )
    }
)  # fmt: skip
