"""Tables of customers, their expected columns, and the source fields of a database server."""

from typing import Any

from steward.tenants.api.source import Tls
from steward.tenants.sources.rows import Columns
from tests.support.database_servers import DatabaseServer

COLUMNS = Columns("id", "url", "active", (("plan", "plan id"),))
DISABLED = Tls(mode="disable")


def source_fields(server: DatabaseServer, **fields: Any) -> dict[str, Any]:
    """The fields of a source on this server."""
    where = {"host": "127.0.0.1", "port": server.port, "username": server.user, "tls": DISABLED}
    return where | fields


def long_rows(count: int, active: object) -> list[tuple[object, ...]]:
    return [
        (f"t{number}", f"https://t{number}.example/{'x' * 40}", active, "gold") for number in range(count)
    ]
