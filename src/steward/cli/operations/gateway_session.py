"""What a client needs to reach a cluster through one of its gateways: the pod, the port, the user and the password.

Pure, but for the reads. The password is written to a file that only its user can read, not into the environment, which
other programs of the same user inherit and show.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from steward.cli.hints import command_line
from steward.cli.operations.forward_server import LOCALHOST
from steward.cli.operations.outcome import RequestError, condition
from steward.cli.operations.spec_switches import read_cluster
from steward.kube.client.client import Client
from steward.kube.errors import Forbidden, NotFound
from steward.kube.objects.kinds import POD, SECRET, Key, Manifest, key_of_manifest
from steward.kube.objects.options import ListQuery
from steward.kube.transport.port_forward import PodPort
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL
from steward.multigres.objects.secrets import AUTHORITY_KEY

PRIMARY, REPLICA = "primary", "replica"
PORTS: Mapping[str, int] = {PRIMARY: gateway.POSTGRES.number, REPLICA: gateway.REPLICA.number}
_LOGIN_KEYS = ("user", "dbname", "password", AUTHORITY_KEY)
SOCKET_PORT = 5432
"""The name of the local socket has a port, whatever the port of the pod is."""


class Login(NamedTuple):
    """Empty where the user may not read the connection Secret."""

    user: str = ""
    database: str = ""
    password: str = ""
    authority: str = ""
    """The certificates that a gateway's certificate is checked against; "" if there are none."""

    def __repr__(self) -> str:
        return f"Login({self.user}, {self.database})"


class GatewaySession(NamedTuple):
    target: PodPort
    login: Login
    requires_tls: bool = False
    """Whether the gateways reject clients without TLS."""


def ready_gateway(pods: Iterable[Manifest], cluster: Key) -> Key:
    ready = sorted(
        key_of_manifest(pod)
        for pod in pods
        if condition(pod, "Ready").get("status") == "True" and "deletionTimestamp" not in pod["metadata"]
    )
    if not ready:
        raise RequestError(f"no gateway of MultigresCluster {cluster} is ready")
    return ready[0]


def login_of(secret: Manifest) -> Login:
    data = secret.get("data") or {}
    return Login(*(base64.b64decode(data.get(name) or "").decode() for name in _LOGIN_KEYS))


async def read_session(client: Client, cluster: Key, role: str) -> GatewaySession:
    found = await read_cluster(client, cluster)
    if (found.get("status") or {}).get("phase") == "Hibernated":
        wake = command_line("wake", cluster.name, namespace=cluster.namespace)
        raise RequestError(f"MultigresCluster {cluster} hibernates: `{wake}` starts it")
    selector = f"{CLUSTER_LABEL}={cluster.name},{COMPONENT_LABEL}={gateway.COMPONENT}"
    pods = (await client.list(POD, ListQuery(namespace=cluster.namespace, label_selector=selector))).items
    target = PodPort(ready_gateway(pods, cluster), PORTS[role])
    requires_tls = ((found.get("spec") or {}).get("gatewayTls") or {}).get("required") is True
    return GatewaySession(target, await _read_login(client, found, cluster), requires_tls)


async def _read_login(client: Client, cluster: Manifest, key: Key) -> Login:
    name = str((cluster.get("status") or {}).get("connectionSecret") or "")
    try:
        return login_of(await client.get(SECRET, Key(key.namespace, name))) if name else Login()
    except (Forbidden, NotFound):
        return Login()


def password_file(login: Login, directory: Path) -> Path | None:
    """Writes the file that psql reads the password from; None without a password."""
    if not login.password:
        return None
    path = directory / "pgpass"
    path.touch(mode=0o600)
    escaped = login.password.replace("\\", "\\\\").replace(":", "\\:")
    path.write_text(f"*:*:*:*:{escaped}\n", encoding="utf-8")
    return path


def client_environment(login: Login, directory: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of psql: it connects through the socket in the directory. Other settings of the user stay."""
    return _environment(login, directory, environ) | {"PGHOST": str(directory), "PGPORT": str(SOCKET_PORT)}


def tls_environment(login: Login, directory: Path, port: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of psql that connects to a port of this machine, because a Unix socket has no TLS. The name in
    the certificate is that of the gateways, so only its authority is checked."""
    address = {"PGHOST": LOCALHOST, "PGPORT": str(port), "PGSSLMODE": "require"}
    if login.authority:
        authority = directory / AUTHORITY_KEY
        authority.write_text(login.authority, encoding="utf-8")
        address |= {"PGSSLMODE": "verify-ca", "PGSSLROOTCERT": str(authority)}
    return _environment(login, directory, environ) | address


def _environment(login: Login, directory: Path, environ: Mapping[str, str]) -> dict[str, str]:
    file = password_file(login, directory)
    unwanted = {"PGHOSTADDR", "PGSERVICE", "PGPASSWORD"}
    return {
        **{name: value for name, value in environ.items() if name not in unwanted},
        **({"PGUSER": login.user} if login.user else {}),
        **({"PGDATABASE": login.database} if login.database else {}),
        **({"PGPASSFILE": str(file)} if file else {}),
    }


def socket_path(directory: Path) -> Path:
    """The name by which libpq finds a server in a directory."""
    return directory / f".s.PGSQL.{SOCKET_PORT}"
