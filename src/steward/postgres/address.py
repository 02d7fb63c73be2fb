"""The address of a PostgreSQL server and the account to use there. Imports no driver: most processes need none."""

from typing import NamedTuple


class PostgresAddress(NamedTuple):
    host: str
    port: int
    user: str
    database: str
