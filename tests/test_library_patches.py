"""Each patch of another library works with the installed version, which is one that pyproject allows."""

import asyncio
import ssl
import sys
import tomllib
from asyncio.sslproto import SSLProtocol
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import asyncmy
import asyncmy.connection
import asyncmy.errors
import asyncpg
import asyncpg.protocol
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from steward.library_patches import (
    TLS_READ_BUFFER,
    replace_asyncmy_protocol,
    replace_asyncpg_protocol,
    shrink_tls_read_buffers,
)

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
ALLOWED = {
    requirement.name: requirement.specifier for requirement in map(Requirement, PROJECT["dependencies"])
}


def tls_read_buffer() -> int:
    """The size that a new TLS connection of asyncio allocates."""
    loop = asyncio.get_running_loop()
    context = ssl.create_default_context()
    protocol: Any = SSLProtocol(loop, asyncio.Protocol(), context, None, server_hostname="example.com")
    protocol.connection_lost(None)
    return len(protocol._ssl_buffer)


async def test_tls_connections_of_asyncio_get_a_small_read_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SSLProtocol, "max_size", 1 << 18)
    assert tls_read_buffer() == 1 << 18

    shrink_tls_read_buffers()

    assert tls_read_buffer() == TLS_READ_BUFFER


async def test_asyncpg_creates_the_protocol_that_replaces_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    created = []

    class Recording(asyncpg.protocol.Protocol):  # type: ignore[misc]
        def __init__(self, *arguments: Any) -> None:
            created.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(asyncpg.protocol, "Protocol", asyncpg.protocol.Protocol)
    replace_asyncpg_protocol(Recording)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    with suppress(OSError, asyncpg.PostgresError):
        await asyncpg.connect(host="127.0.0.1", port=port, user="u", database="d", ssl=False, timeout=10)
    server.close()

    assert created


def test_the_tenant_operator_replaces_the_protocol_of_asyncpg() -> None:
    from steward.postgres.frames import ValidatingProtocol

    assert asyncpg.protocol.Protocol is ValidatingProtocol


def test_the_tenant_operator_replaces_the_protocol_of_asyncmy() -> None:
    from steward.tenants.sources.mysql_result import BoundedProtocol

    assert asyncmy.connection._MySQLProtocol is BoundedProtocol


async def test_asyncmy_creates_the_protocol_that_replaces_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    created = []

    class Recording(asyncmy.connection._MySQLProtocol):  # type: ignore[misc,name-defined]
        def __init__(self, *arguments: Any) -> None:
            created.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr(asyncmy.connection, "_MySQLProtocol", asyncmy.connection._MySQLProtocol)
    replace_asyncmy_protocol(Recording)
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    port = server.sockets[0].getsockname()[1]
    with suppress(OSError, asyncmy.errors.Error):
        await asyncmy.connect(host="127.0.0.1", port=port, user="u", connect_timeout=10)
    server.close()
    assert created


@pytest.mark.parametrize("library", ["asyncmy", "asyncpg", "aiohttp"])
def test_the_installed_version_is_one_that_pyproject_allows(library: str) -> None:
    assert version(library) in ALLOWED[library]
    assert any(bound.operator == "<" for bound in ALLOWED[library]), "a patch needs an upper bound"


def test_this_python_is_one_that_pyproject_allows() -> None:
    assert ".".join(map(str, sys.version_info[:3])) in SpecifierSet(PROJECT["requires-python"])
