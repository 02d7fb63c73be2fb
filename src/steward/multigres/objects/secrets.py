"""The cluster's Secrets: the superuser's password, and what an application mounts on day one.

The password belongs to the data: while volumes are kept, so is the password, without an owner that would take it away.
It is made once, by create and never by apply: a second one would lock the servers out of their own data.
"""

import base64
from urllib.parse import quote

from steward.multigres import names
from steward.multigres.objects.gateway import POSTGRES
from steward.multigres.objects.metadata import Manifest, Owner, labels, metadata
from steward.multigres.resolution import defaults

PASSWORD_KEY = "password"


def password_secret(owner: Owner, password: str) -> Manifest:
    written = metadata(owner, names.password_secret(owner.name), labels(owner.name, "postgres-password"))
    del written["ownerReferences"]
    return _secret(written, {PASSWORD_KEY: password})


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
    written = metadata(owner, names.connection_secret(owner.name), labels(owner.name, "connection"))
    return _secret(written, values)


def _secret(written: Manifest, values: dict[str, str]) -> Manifest:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": written, "type": "Opaque", "data": encoded}
