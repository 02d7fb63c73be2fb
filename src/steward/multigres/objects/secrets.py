"""Secrets of a cluster: the superuser's password, and the connection parameters that applications mount.

The password is needed as long as the volumes exist, which may outlive the cluster; its Secret therefore has no owner.
It is created once and never applied: another password would not match the data that the servers already have.
"""

import base64
from urllib.parse import quote

from steward.multigres import names
from steward.multigres.objects.gateway import POSTGRES
from steward.multigres.objects.metadata import Manifest, Owner, component_labels, metadata
from steward.multigres.resolution import defaults

PASSWORD_KEY = "password"


def password_secret(owner: Owner, password: str) -> Manifest:
    meta = metadata(
        owner, names.password_secret(owner.name), component_labels(owner.name, "postgres-password")
    )
    del meta["ownerReferences"]
    return _secret(meta, {PASSWORD_KEY: password})


def connection_secret(owner: Owner, password: str) -> Manifest:
    host = f"{names.cluster_gateway(owner.name)}.{owner.namespace}.svc"
    user, database = defaults.SUPERUSER, defaults.SYSTEM_DATABASE
    values = {
        "host": host,
        "port": str(POSTGRES.number),
        "user": user,
        "password": password,
        "dbname": database,
        "uri": f"postgresql://{user}:{quote(password, safe='')}@{host}:{POSTGRES.number}/{database}",
    }
    meta = metadata(owner, names.connection_secret(owner.name), component_labels(owner.name, "connection"))
    return _secret(meta, values)


def _secret(meta: Manifest, values: dict[str, str]) -> Manifest:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": encoded}
