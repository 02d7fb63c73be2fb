"""A local socket that leads to a port of a pod."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

from steward.cli.operations.forward_server import ForwardServer
from steward.kube.config.settings import AuthSettings, ConnectionSettings
from steward.kube.objects.kinds import Key
from steward.kube.transport.port_forward import PodPort, PortForwarder
from tests.cli.support.pod_stream_server import PodStreamServer, running_server

TARGET = PodPort(Key("shop", "gateway-0"), 5432)


class ReverseLines(StreamRequestHandler):
    """A server of the pod: answers each line with its reverse, and ends after `bye`."""

    def handle(self) -> None:
        while line := self.rfile.readline().strip():
            self.wfile.write(line[::-1] + b"\n")
            if line == b"bye":
                break


@contextmanager
def pod_port() -> Iterator[PodStreamServer]:
    """A pod on whose port `ReverseLines` answers."""
    with ThreadingTCPServer(("127.0.0.1", 0), ReverseLines) as backend:
        thread = threading.Thread(target=backend.serve_forever)
        thread.start()
        ports = {("gateway-0", 5432): ("127.0.0.1", int(backend.server_address[1]))}
        with running_server(PodStreamServer(ports=ports)) as server:
            yield server
        backend.shutdown()
        thread.join()


def forward(server: PodStreamServer, errors: list[str]) -> ForwardServer:
    settings = ConnectionSettings(server=server.url, auth=AuthSettings(token="t0ken"))
    return ForwardServer(PortForwarder(settings), TARGET, errors.append)


async def test_bytes_reach_the_port_of_the_pod_and_come_back(tmp_path: Path) -> None:
    path, errors = tmp_path / "socket", list[str]()
    with pod_port() as server:
        async with forward(server, errors).on_unix_socket(path):
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
            writer.write(b"hello\n")
            assert await reader.readline() == b"olleh\n"
            large = b"x" * 300_000 + b"\n"
            writer.write(large)
            assert await reader.readexactly(len(large)) == large
            writer.close()
    assert errors == []


async def test_the_connection_ends_when_the_pod_closes_it() -> None:
    with pod_port() as server:
        async with forward(server, []).on_port(0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"bye\n")
            assert await reader.read() == b"eyb\n"
            writer.close()


async def test_each_connection_is_forwarded_by_itself() -> None:
    """psql cancels a query by a second connection."""
    with pod_port() as server:
        async with forward(server, []).on_port(0) as port:
            pairs = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            for number, (_, writer) in enumerate(pairs):
                writer.write(f"{number}!\n".encode())
            assert [await reader.readline() for reader, _ in pairs] == [b"!0\n", b"!1\n", b"!2\n"]
            for _, writer in pairs:
                writer.close()


async def test_a_pod_that_cannot_be_reached_is_reported_and_the_connection_ends() -> None:
    errors: list[str] = []
    with running_server(PodStreamServer()) as server:
        async with forward(server, errors).on_port(0) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.read() == b""
            writer.close()
    assert len(errors) == 1
    assert errors[0].endswith("error forwarding port 5432 to pod gateway-0: connection refused")
