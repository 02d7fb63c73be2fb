"""The source of a registry's rows: a table of a MySQL, MariaDB or PostgreSQL server, or of an SQLite file."""

from typing import Annotated, ClassVar, get_args

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.tenants.api.scalars import (
    ATOMIC,
    UNSET,
    ConditionOperator,
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


Identity = tuple[str | int, ...]
"""Names the table that a source reads, not how it is read (user, TLS, timeouts). The deletion guard compares only reads
of equal identity. Empty strings stand for fields that a source lacks: they keep the hash of the identity stable."""


class SecretKeyRef(Part):
    """One value in a Secret of the namespace of the registry."""

    name: ObjectName
    """The name of the Secret."""
    key: KeyName
    """The key in its data."""


class SecretRef(Part):
    """A Secret of the namespace of the registry."""

    name: ObjectName
    """The name of the Secret."""


class Tls(Part):
    """How the connection is encrypted, and how the server is verified."""

    mode: Annotated[TlsMode, Meta(extra_json_schema={"default": TLS_DEFAULT})] = TLS_DEFAULT
    """disable: no encryption. prefer: if the server supports it. require: always, without verification. verify-ca: the
    certificate must be signed by the CA. verify-full: and it must be issued for the host."""
    ca_ref: SecretKeyRef | Unset = UNSET
    """CA certificates in PEM that verify the certificate of the server. The system's CAs by default."""
    client_certificate_ref: SecretRef | Unset = UNSET
    """A Secret of type kubernetes.io/tls with the client certificate in `tls.crt` and `tls.key`."""
    rules: ClassVar = (
        Cel(
            "!has(self.caRef) || self.mode.startsWith('verify-')",
            "caRef is only used by verify-ca and verify-full",
            ".caRef",
        ),
    )


class DatabaseServer(Part, kw_only=True):
    """A database server, and the user that reads from it."""

    host: Host
    """The host name or address of the server."""
    username: Identifier
    """The user that reads. SELECT on the table is enough."""
    password_ref: SecretKeyRef | Unset = UNSET
    """The password. A change of the Secret takes effect with the next read."""
    database: Identifier
    """The database that contains the table."""
    tls: Tls | Unset = UNSET
    """Encryption of the connection. `prefer` by default."""
    connect_timeout: ConnectTimeout = DEFAULT_CONNECT_TIMEOUT
    """How long connecting may take."""
    query_timeout: QueryTimeout = DEFAULT_QUERY_TIMEOUT
    """How long the query may take. A slower one is stopped and counts as a failed read."""


class MySqlSource(DatabaseServer, kw_only=True):
    """A table or view on a MySQL or MariaDB server."""

    port: Annotated[
        int, Meta(ge=1, le=65535, extra_json_schema={"default": MYSQL_PORT, "format": "int32"})
    ] = MYSQL_PORT
    """The port of the server."""
    table: TableName
    """A table or a view, `name` or `database.name`."""

    def identity(self) -> Identity:
        return self.host, self.port, self.database, "", self.table


class PostgresSource(DatabaseServer, kw_only=True):
    """A table or view on a PostgreSQL server."""

    port: Annotated[
        int, Meta(ge=1, le=65535, extra_json_schema={"default": POSTGRES_PORT, "format": "int32"})
    ] = POSTGRES_PORT
    """The port of the server."""
    table: TableName
    """A table or a view, `name` or `schema.name`."""

    def identity(self) -> Identity:
        return self.host, self.port, self.database, "", self.table


class SqliteSource(Part):
    """A table or view in an SQLite file of the operator's container, for trials."""

    file: FilePath
    """The path of the file, relative to the directory of `--sqlite-root`."""
    table: TableName
    """A table or a view."""
    query_timeout: QueryTimeout = DEFAULT_QUERY_TIMEOUT
    """How long the query may take. A slower one is stopped and counts as a failed read."""

    def identity(self) -> Identity:
        return "", "", "", self.file, self.table


class RowCondition(Part, kw_only=True):
    """Rows by the text of a column."""

    column: Identifier
    """A column of the table. It need not be mapped."""
    operator: Annotated[ConditionOperator, Meta(extra_json_schema={"default": "In"})] = "In"
    """In: the column has one of the values. NotIn: it has none of them."""
    values: Annotated[
        list[Annotated[str, Meta(max_length=1024)]],
        Meta(min_length=1, max_length=100, extra_json_schema=ATOMIC),
    ]
    """The values, compared with the text that the database makes of the column: upper and lower case differ, and NULL
    is the empty text."""


SourceBlock = MySqlSource | PostgresSource | SqliteSource


def _only(source: SourceType) -> Cel:
    others = " && ".join(f"!has(self.{other})" for other in get_args(SourceType) if other != source)
    return Cel(
        f"self.type != '{source}' || (has(self.{source}) && {others})",
        f"type {source} needs the block {source}, and no other",
        f".{source}",
    )


class Source(Part):
    """The source of the rows, and how often it is read."""

    type: SourceType
    """The type of the database. The block of the same name has its settings."""
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
    where: Annotated[list[RowCondition], Meta(max_length=10, extra_json_schema=ATOMIC)] | Unset = UNSET
    """Only rows that meet all of these conditions are read. The others count as missing: the deletion guard decides
    about their Tenants."""
    rules: ClassVar = (_only("mysql"), _only("postgres"), _only("sqlite"))

    @property
    def block(self) -> SourceBlock | Unset:
        """The block that belongs to the type; UNSET where it is missing."""
        blocks: dict[SourceType, SourceBlock | Unset] = {
            "mysql": self.mysql,
            "postgres": self.postgres,
            "sqlite": self.sqlite,
        }
        return blocks[self.type]
