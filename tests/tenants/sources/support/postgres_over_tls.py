"""The shared PostgreSQL server with TLS enabled temporarily: it loads certificates without a restart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from tests.support.database_servers import DatabaseServer, private_file
from tests.tenants.sources.support.certificates import Authority


@asynccontextmanager
async def with_tls(server: DatabaseServer, authority: Authority) -> AsyncIterator[Any]:
    """The server requests client certificates of the same authority and accepts clients without one. Yields a
    connection of its administrator."""
    directory = server.socket.parent / "tls"
    directory.mkdir(exist_ok=True)
    pem = authority.issue("server")
    files = {
        "ssl_cert_file": private_file(directory / "server.crt", pem.certificate),
        "ssl_key_file": private_file(directory / "server.key", pem.key),
        "ssl_ca_file": private_file(directory / "ca.crt", authority.certificate),
    }
    connection = await asyncpg.connect(
        host="127.0.0.1",
        port=server.port,
        user=server.user,
        password=server.password,
        database="postgres",
        ssl=False,
    )
    await _switch(connection, {name: str(path) for name, path in files.items()} | {"ssl": "on"})
    yield connection
    await _switch(connection, {"ssl": "off"})
    await connection.close()


async def _switch(connection: Any, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        await connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
    await connection.execute("SELECT pg_reload_conf()")
    wanted = settings["ssl"]
    while await connection.fetchval("SELECT setting FROM pg_settings WHERE name = 'ssl'") != wanted:
        await asyncio.sleep(0.01)
