"""Where the rows are: a MySQL or MariaDB server, a PostgreSQL server, or an SQLite file."""

from typing import Annotated, ClassVar

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.tenants.api.scalars import (
    UNSET,
    FilePath,
    Host,
    Identifier,
    Interval,
    KeyName,
    ObjectName,
    Part,
    SourceType,
    TableName,
    TlsMode,
    Unset,
)

MYSQL_PORT = 3306
POSTGRES_PORT = 5432
DEFAULT_INTERVAL = "30s"
DEFAULT_CONNECT_TIMEOUT = "5s"
DEFAULT_QUERY_TIMEOUT = "30s"
TLS_DEFAULT: TlsMode = "prefer"

ConnectTimeout = Annotated[Interval, Meta(extra_json_schema={"default": DEFAULT_CONNECT_TIMEOUT})]
QueryTimeout = Annotated[Interval, Meta(extra_json_schema={"default": DEFAULT_QUERY_TIMEOUT})]


class SecretKeyRef(Part):
    """One value in a Secret of the registry's own namespace."""

    name: ObjectName
    """The Secret."""
    key: KeyName
    """The key in its data."""


class SecretRef(Part):
    """A Secret of the registry's own namespace."""

    name: ObjectName
    """The Secret."""


class Tls(Part):
    """How the connection is encrypted, and whom we believe."""

    mode: Annotated[TlsMode, Meta(extra_json_schema={"default": TLS_DEFAULT})] = TLS_DEFAULT
    """disable: never. prefer: if the server can. require: always, whoever the server is. verify-ca: and its certificate
    is signed by the CA. verify-full: and it is made out to the host."""
    ca_ref: SecretKeyRef | Unset = UNSET
    """The CA certificates in PEM that sign the server's. The system's own when left out."""
    client_certificate_ref: SecretRef | Unset = UNSET
    """A Secret of type kubernetes.io/tls whose `tls.crt` and `tls.key` we present."""
    rules: ClassVar = (
        Cel(
            "!has(self.caRef) || self.mode.startsWith('verify-')",
            "caRef is only used by verify-ca and verify-full",
            ".caRef",
        ),
    )


class Server(Part, kw_only=True):
    """What MySQL and PostgreSQL have in common: a server, and somebody who may read there."""

    host: Host
    """Where the server is."""
    username: Identifier
    """As whom to read. The right to SELECT from the table is enough."""
    password_ref: SecretKeyRef | Unset = UNSET
    """The password. Read again whenever the Secret changes."""
    database: Identifier
    """The database that holds the table."""
    tls: Tls | Unset = UNSET
    """Encryption of the connection. `prefer` when left out."""
    connect_timeout: ConnectTimeout = DEFAULT_CONNECT_TIMEOUT
    """How long connecting may take."""
    query_timeout: QueryTimeout = DEFAULT_QUERY_TIMEOUT
    """How long the query may take. A slower one is stopped and counts as a failed read."""


class MySqlSource(Server, kw_only=True):
    """A table or view on a MySQL or MariaDB server."""

    port: Annotated[
        int, Meta(ge=1, le=65535, extra_json_schema={"default": MYSQL_PORT, "format": "int32"})
    ] = MYSQL_PORT
    """On which port it listens."""
    table: TableName
    """A table or a view, `name` or `database.name`."""


class PostgresSource(Server, kw_only=True):
    """A table or view on a PostgreSQL server."""

    port: Annotated[
        int, Meta(ge=1, le=65535, extra_json_schema={"default": POSTGRES_PORT, "format": "int32"})
    ] = POSTGRES_PORT
    """On which port it listens."""
    table: TableName
    """A table or a view, `name` or `schema.name`."""


class SqliteSource(Part):
    """A table or view in an SQLite file that the operator can see: for trying things out."""

    file: FilePath
    """The file, relative to the directory that the operator was given with `--sqlite-root`."""
    table: TableName
    """A table or a view."""
    query_timeout: QueryTimeout = DEFAULT_QUERY_TIMEOUT
    """How long the query may take. A slower one is stopped and counts as a failed read."""


def _only(source: SourceType) -> Cel:
    others = " && ".join(
        f"!has(self.{other})" for other in ("mysql", "postgres", "sqlite") if other != source
    )
    return Cel(
        f"self.type != '{source}' || (has(self.{source}) && {others})",
        f"type {source} needs the block {source}, and no other",
        f".{source}",
    )


class Source(Part):
    """Where the rows are, and how often to look."""

    type: SourceType
    """What kind of database it is. The block of the same name says where."""
    sync_interval: Annotated[Interval, Meta(extra_json_schema={"default": DEFAULT_INTERVAL})] = (
        DEFAULT_INTERVAL
    )
    """How often the table is read: a number and s, m or h."""
    mysql: MySqlSource | Unset = UNSET
    """For type mysql: MySQL 8 and MariaDB."""
    postgres: PostgresSource | Unset = UNSET
    """For type postgres."""
    sqlite: SqliteSource | Unset = UNSET
    """For type sqlite."""
    rules: ClassVar = (_only("mysql"), _only("postgres"), _only("sqlite"))
