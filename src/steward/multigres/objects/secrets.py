"""Secrets of a cluster: the superuser's password, and the accounts that applications mount.

The superuser's password is needed as long as the volumes exist, which may outlive the cluster; its Secret therefore has
no owner. It is created once and never applied: another password would not match the data that the servers already have.
Passwords of other roles can be set again at any time, so the cluster owns their Secrets.
"""

import base64
from typing import NamedTuple
from urllib.parse import quote

from steward.multigres import names
from steward.multigres.objects.gateway import POSTGRES, REPLICA
from steward.multigres.objects.metadata import (
    DATABASE_LABEL,
    ROLE_LABEL,
    Manifest,
    Owner,
    component_labels,
    metadata,
)
from steward.multigres.resolution.gateway_tls import ClientTls

PASSWORD_KEY = "password"
USER_KEY = "user"
AUTHORITY_KEY = "ca.crt"
NO_TLS = ClientTls()


class Account(NamedTuple):
    """What an application needs to log in to a database."""

    user: str
    password: str
    database: str


def password_secret(owner: Owner, password: str) -> Manifest:
    meta = metadata(
        owner, names.password_secret(owner.name), component_labels(owner.name, "postgres-password")
    )
    del meta["ownerReferences"]
    return _secret(meta, {PASSWORD_KEY: password})


def connection_secret(owner: Owner, account: Account, tls: ClientTls = NO_TLS) -> Manifest:
    meta = metadata(owner, names.connection_secret(owner.name), component_labels(owner.name, "connection"))
    return _secret(meta, _values(owner, account, tls))


def superuser_secret(owner: Owner, account: Account, tls: ClientTls = NO_TLS) -> Manifest:
    meta = metadata(owner, names.superuser_secret(owner.name), component_labels(owner.name, "superuser"))
    return _secret(meta, _values(owner, account, tls))


def role_secret(owner: Owner, account: Account, tls: ClientTls = NO_TLS) -> Manifest:
    location = {DATABASE_LABEL: account.database, ROLE_LABEL: account.user}
    name = names.role_secret(owner.name, account.database, account.user)
    meta = metadata(owner, name, component_labels(owner.name, "role", location))
    return _secret(meta, _values(owner, account, tls))


def _values(owner: Owner, account: Account, tls: ClientTls) -> dict[str, str]:
    host = f"{names.cluster_gateway(owner.name)}.{owner.namespace}.svc"
    user, password = quote(account.user, safe=""), quote(account.password, safe="")
    address = f"{host}:{POSTGRES.number}/{account.database}"
    return {
        "host": host,
        "port": str(POSTGRES.number),
        "replicaPort": str(REPLICA.number),
        USER_KEY: account.user,
        PASSWORD_KEY: account.password,
        "dbname": account.database,
        "uri": f"postgresql://{user}:{password}@{address}{'?sslmode=require' if tls.is_required else ''}",
        "jdbcUri": f"jdbc:postgresql://{address}?user={user}&password={password}"
        f"{'&sslmode=require' if tls.is_required else ''}",
        **({AUTHORITY_KEY: tls.authority} if tls.authority else {}),
    }


def _secret(meta: Manifest, values: dict[str, str]) -> Manifest:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": encoded}
