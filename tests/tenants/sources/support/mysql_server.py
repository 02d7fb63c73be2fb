"""A fake MySQL server that offers `caching_sha2_password` and can behave in hostile ways.

MariaDB does not have that login method, and no real server requests files of a client. It uses plain sockets in
threads: TLS starts in the middle of the stream, and nothing may have read ahead.
"""

import hashlib
import secrets
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

# LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, and SSL.
CAPABILITIES = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000
SSL = 0x800
PLUGIN = b"caching_sha2_password"
OK = b"\x00\x00\x00\x02\x00\x00\x00"
END = b"\xfe\x00\x00\x02\x00"
FULL_LOGIN, FAST_LOGIN = b"\x01\x04", b"\x01\x03"


@dataclass
class MySqlServer:
    password: str
    tls: ssl.SSLContext | None = None
    is_cached: bool = False
    """Whether the server has cached the login and needs no password."""
    answer: str = "rows"
    """`rows`; `file` requests a file of the client; `short` ends in the middle of a row; `narrow` omits a column of one
    row, `few` of all rows; `again` sends a packet twice; `error` ends with an error, `changed` with a wrong packet."""
    asks_for: bytes = b""
    """Another login method, requested after the client has answered the offered one."""
    refuses_with: int = 0
    """The error code with which a login is rejected."""
    port: int = 0
    statements: list[str] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    """Data received after an invalid query, or for `asks_for`."""
    connections: list[socket.socket] = field(default_factory=list)
    login: str = ""
    """How the password was sent: fast, rsa or tls."""


class _Session:
    def __init__(self, server: MySqlServer, connection: socket.socket) -> None:
        self.server, self.connection = server, connection
        self.sequence = 0
        self.nonce = bytes(secrets.choice(range(1, 128)) for _ in range(20))

    def send(self, payload: bytes) -> None:
        self.connection.sendall(len(payload).to_bytes(3, "little") + bytes([self.sequence]) + payload)
        self.sequence = (self.sequence + 1) % 256

    def receive(self) -> bytes:
        head = self.exactly(4)
        self.sequence = (head[3] + 1) % 256
        return self.exactly(int.from_bytes(head[:3], "little"))

    def exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self.connection.recv(count - len(found))
            if not part:
                raise ConnectionError("the client has left")
            found += part
        return found

    def serve(self) -> None:
        if not self.log_in():
            return
        while True:
            packet = self.receive()
            if packet[:1] != b"\x03":
                self.server.received.append(packet)
                return
            self.query(packet[1:].decode())

    def log_in(self) -> bool:
        self.send(self.greeting())
        reply = self.receive()
        if self.server.tls is not None and struct.unpack("<I", reply[:4])[0] & SSL and len(reply) == 32:
            self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
            self.server.connections.append(self.connection)
            reply = self.receive()
        if self.server.refuses_with:
            self.send(b"\xff" + struct.pack("<H", self.server.refuses_with) + b"#08004Too many connections")
            return False
        if self.server.asks_for:
            self.send(b"\xfe" + self.server.asks_for + b"\0" + self.nonce + b"\0")
            self.server.received.append(self.receive())
        scramble = reply[reply.index(b"\0", 32) + 2 :][:32]
        if scramble != self.scramble() or not self.has_password():
            self.send(b"\xff" + struct.pack("<H", 1045) + b"#28000Access denied")
            return False
        self.send(OK)
        return True

    def greeting(self) -> bytes:
        flags = CAPABILITIES | (SSL if self.server.tls is not None else 0)
        return (
            b"\x0a8.4.0\0"
            + struct.pack("<I", 1)
            + self.nonce[:8]
            + b"\0"
            + struct.pack("<HBHH", flags & 0xFFFF, 255, 2, flags >> 16)
            + bytes([21])
            + bytes(10)
            + self.nonce[8:]
            + b"\0"
            + PLUGIN
            + b"\0"
        )

    def scramble(self) -> bytes:
        once = hashlib.sha256(self.server.password.encode()).digest()
        mixed = hashlib.sha256(hashlib.sha256(once).digest() + self.nonce).digest()
        return bytes(a ^ b for a, b in zip(once, mixed, strict=True))

    def has_password(self) -> bool:
        if self.server.is_cached:
            self.server.login = "fast"
            self.send(FAST_LOGIN)
            return True
        self.send(FULL_LOGIN)
        reply = self.receive()
        if reply != b"\x02":
            self.server.login = "tls" if isinstance(self.connection, ssl.SSLSocket) else "clear"
            return reply == self.server.password.encode() + b"\0"
        self.server.login = "rsa"
        return self.has_password_by_rsa()

    def has_password_by_rsa(self) -> bool:
        key = rsa.generate_private_key(65537, 2048)
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.send(b"\x01" + public)
        # The protocol requires SHA-1 here.
        oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        hidden = key.decrypt(self.receive(), oaep)
        plain = bytes(byte ^ self.nonce[place % 20] for place, byte in enumerate(hidden))
        return plain == self.server.password.encode() + b"\0"

    def query(self, statement: str) -> None:
        self.server.statements.append(statement)
        if not statement.startswith("SELECT"):
            self.send(OK)
        elif self.server.answer == "file":
            self.send(b"\xfb/etc/passwd")
        else:
            self.rows()

    def rows(self) -> None:
        names = (b"id", b"url", b"active")[: 2 if self.server.answer == "few" else 3]
        self.send(bytes([len(names)]))
        for name in names:
            self.send(
                _texts(b"def", b"", b"", b"", name, name)
                + b"\x0c"
                + struct.pack("<HIBHB", 255, 99, 253, 0, 0)
                + b"\0\0"
            )
        self.send(END)
        self.send(_texts(b"a", b"https://a", b"1"))
        self.last_row()

    def last_row(self) -> None:
        answer = self.server.answer
        self.send(_texts(b"b", b"https://b", *([] if answer == "narrow" else [b"1"])))
        if answer == "again":
            self.sequence -= 1
            self.send(_texts(b"b", b"https://b", b"1"))
        if answer == "short":
            self.connection.close()
            return
        endings = {"error": b"\xff" + struct.pack("<H", 1317) + b"#70100Interrupted", "changed": b"\xfd\x00"}
        self.send(endings.get(answer, END))


def _texts(*texts: bytes) -> bytes:
    return b"".join(bytes([len(text)]) + text for text in texts)


@contextmanager
def mysql_server(server: MySqlServer) -> Iterator[MySqlServer]:
    listening = socket.create_server(("127.0.0.1", 0))
    server.port = listening.getsockname()[1]
    accepting = threading.Thread(target=_accept, args=(server, listening))
    accepting.start()
    try:
        yield server
    finally:
        # Closing alone does not wake up the thread, and the close of the client waits for the event loop blocked here.
        for opened in (listening, *server.connections):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()


def _accept(server: MySqlServer, listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        connection.settimeout(10)
        server.connections.append(connection)
        session = _Session(server, connection)
        try:
            session.serve()
        except OSError:
            pass
        finally:
            session.connection.close()
            connection.close()
