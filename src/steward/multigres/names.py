"""Names of all objects that the operator creates.

A name contains the path of its object in the cluster and ends in a hash over the unmodified parts, so that two paths
have different names after truncation and character replacement. Parts are logical names (cluster, database, shard …),
never names that already end in a hash; singletons of a cluster have no hash, because nothing can collide with them.
"""

import re
from functools import lru_cache
from typing import NamedTuple

_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9-]")
FNV_OFFSET = 0x811C9DC5
FNV_PRIME = 0x01000193
TRUNCATION_MARK = "---"
HASH_LENGTH = 8
CACHED_NAMES = 20_000
"""Those of 2,000 shards. A cache with room for fewer names than a cluster has would never hold the next one."""


class NameLimit(NamedTuple):
    """Maximum length of a name, and the characters that it may start with."""

    length: int
    first: str


LOWERCASE = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
OBJECT = NameLimit(253, LOWERCASE + DIGITS)
SERVICE = NameLimit(63, LOWERCASE)
STATEFUL_SET = NameLimit(52, LOWERCASE)
POD = NameLimit(60, LOWERCASE)


def digest(*parts: str) -> str:
    """FNV-1a over each part followed by a 0 byte, so that ("a", "bc") and ("ab", "c") differ."""
    return f"{_hash_state(parts):08x}"


@lru_cache(maxsize=CACHED_NAMES)
def _hash_state(parts: tuple[str, ...]) -> int:
    """Continues from the state of the parts before the last: the names of one shard share all parts but the last."""
    if not parts:
        return FNV_OFFSET
    state = _hash_state(parts[:-1])
    for byte in (*parts[-1].encode(), 0):
        state = ((state ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return state


@lru_cache(maxsize=CACHED_NAMES)
def join_name(limit: NameLimit, *parts: str) -> str:
    if not parts:
        return ""
    text = _as_dns_label("-".join(parts), limit)
    if len(text) + 1 + HASH_LENGTH <= limit.length:
        return f"{text}-{digest(*parts)}"
    room = limit.length - len(TRUNCATION_MARK) - HASH_LENGTH
    return f"{text[:room]}{TRUNCATION_MARK}{digest(*parts)}"


def _as_dns_label(text: str, limit: NameLimit) -> str:
    name = _INVALID_CHARACTERS.sub("-", text).lower()
    return name if name[:1] in limit.first and name else f"x{name}"


def global_topo(cluster: str) -> str:
    return f"{cluster}-global-topo"


def headless(name: str) -> str:
    return f"{name}-headless"


def multiadmin(cluster: str) -> str:
    return f"{cluster}-multiadmin"


def multiadmin_web(cluster: str) -> str:
    return f"{cluster}-multiadmin-web"


def cluster_gateway(cluster: str) -> str:
    return f"{cluster}-multigateway"


def gateway_authority(cluster: str) -> str:
    return f"{cluster}-gateway-ca"


def gateway_certificate(cluster: str) -> str:
    return f"{cluster}-gateway-tls"


def connection_secret(cluster: str) -> str:
    return f"{cluster}-app"


def superuser_secret(cluster: str) -> str:
    return f"{cluster}-superuser"


def role_secret(cluster: str, database: str, role: str) -> str:
    return join_name(OBJECT, cluster, database, role, "role")


def password_secret(cluster: str) -> str:
    return f"{cluster}-postgres-password"


def shard_password_secret(shard_object: str) -> str:
    """The Secret in which the Go operator keeps the password of a shard."""
    return f"{shard_object}-postgres-password"


def cell(cluster: str, name: str) -> str:
    return join_name(OBJECT, cluster, name)


def local_topo(cell_object: str) -> str:
    # The only name that is derived from a generated name: the TopoServer belongs to the Cell object.
    return join_name(STATEFUL_SET, cell_object, "topo")


def gateway(cluster: str, cell_name: str) -> str:
    return join_name(OBJECT, cluster, cell_name, "multigateway")


def gateway_service(cluster: str, cell_name: str) -> str:
    return join_name(SERVICE, cluster, cell_name, "multigateway")


def table_group(cluster: str, database: str, group: str) -> str:
    return join_name(OBJECT, cluster, database, group)


class ShardPath(NamedTuple):
    """Path of a shard in its cluster."""

    cluster: str
    database: str
    table_group: str
    shard: str


def shard(path: ShardPath) -> str:
    return join_name(OBJECT, *path)


def orchestrator(path: ShardPath, cell_name: str) -> str:
    return join_name(OBJECT, *path, "multiorch", cell_name)


def orchestrator_service(path: ShardPath, cell_name: str) -> str:
    return join_name(SERVICE, *path, "multiorch", cell_name)


def pool(path: ShardPath, pool_name: str, cell_name: str) -> str:
    return join_name(STATEFUL_SET, *path, "pool", pool_name, cell_name)


def pool_headless(path: ShardPath, pool_name: str, cell_name: str) -> str:
    return join_name(SERVICE, *path, "pool", pool_name, cell_name, "headless")


def disruption_budget(path: ShardPath) -> str:
    return join_name(SERVICE, *path, "pdb")


def timed_backup(path: ShardPath, backup_type: str, time: str) -> str:
    """A name for each time: a second process that acts on the same schedule creates the same object."""
    return join_name(OBJECT, *path, backup_type, time)


def backup_claim(path: ShardPath, cell_name: str) -> str:
    return join_name(SERVICE, "backup-data", *path, cell_name)


def shared_backup_claim(path: ShardPath) -> str:
    """Of all cells."""
    return join_name(SERVICE, "backup-data", *path)


def repository_host(path: ShardPath) -> str:
    return join_name(SERVICE, *path, "repository")
