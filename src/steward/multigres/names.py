"""Every name that Steward gives.

A name says where in the tree its object stands and ends in a hash over the untouched parts, so that two paths never
meet in one name, however they are cut or spelled. Parts are logical names (cluster, database, shard …), never names
that already carry a hash; singletons of a cluster carry none, since nothing can collide with them.
"""

import re
from functools import lru_cache
from typing import NamedTuple

_ODD = re.compile(r"[^A-Za-z0-9-]")
FNV_OFFSET = 0x811C9DC5
FNV_PRIME = 0x01000193
CUT = "---"
HASH_LENGTH = 8


class Limit(NamedTuple):
    """How long a name may be, and with what it may begin."""

    length: int
    first: str


LOWERCASE = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
OBJECT = Limit(253, LOWERCASE + DIGITS)
SERVICE = Limit(63, LOWERCASE)
STATEFUL_SET = Limit(52, LOWERCASE)
POD = Limit(60, LOWERCASE)


def digest(*parts: str) -> str:
    """FNV-1a over each part and a 0 byte, so that ("a", "bc") and ("ab", "c") differ."""
    state = FNV_OFFSET
    for part in parts:
        for byte in (*part.encode(), 0):
            state = ((state ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return f"{state:08x}"


@lru_cache(maxsize=2048)
def join(limit: Limit, *parts: str) -> str:
    if not parts:
        return ""
    text = _spelled("-".join(parts), limit)
    if len(text) + 1 + HASH_LENGTH <= limit.length:
        return f"{text}-{digest(*parts)}"
    room = limit.length - len(CUT) - HASH_LENGTH
    return f"{text[:room]}{CUT}{digest(*parts)}"


def _spelled(text: str, limit: Limit) -> str:
    spelled = _ODD.sub("-", text).lower()
    return spelled if spelled[:1] in limit.first and spelled else f"x{spelled}"


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


def connection_secret(cluster: str) -> str:
    return f"{cluster}-app"


def password_secret(cluster: str) -> str:
    return f"{cluster}-postgres-password"


def cell(cluster: str, name: str) -> str:
    return join(OBJECT, cluster, name)


def local_topo(cell_object: str) -> str:
    # The one name that is built on a name of ours: it must stay the cell's own, whatever the cell is called.
    return join(STATEFUL_SET, cell_object, "topo")


def gateway(cluster: str, cell_name: str) -> str:
    return join(OBJECT, cluster, cell_name, "multigateway")


def gateway_service(cluster: str, cell_name: str) -> str:
    return join(SERVICE, cluster, cell_name, "multigateway")


def table_group(cluster: str, database: str, group: str) -> str:
    return join(OBJECT, cluster, database, group)


class ShardPath(NamedTuple):
    """Where a shard stands."""

    cluster: str
    database: str
    table_group: str
    shard: str


def shard(path: ShardPath) -> str:
    return join(OBJECT, *path)


def orchestrator(path: ShardPath, cell_name: str) -> str:
    return join(OBJECT, *path, "multiorch", cell_name)


def orchestrator_service(path: ShardPath, cell_name: str) -> str:
    return join(SERVICE, *path, "multiorch", cell_name)


def pool(path: ShardPath, pool_name: str, cell_name: str) -> str:
    return join(STATEFUL_SET, *path, "pool", pool_name, cell_name)


def pool_headless(path: ShardPath, pool_name: str, cell_name: str) -> str:
    return join(SERVICE, *path, "pool", pool_name, cell_name, "headless")


def disruption_budget(path: ShardPath) -> str:
    return join(SERVICE, *path, "pdb")


def backup_claim(path: ShardPath, cell_name: str) -> str:
    return join(SERVICE, "backup-data", *path, cell_name)
