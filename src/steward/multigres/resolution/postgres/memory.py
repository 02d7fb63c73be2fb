"""Postgres settings that follow from the memory of a server's container. Pure.

pgctld writes figures for a small server, whatever its pod may use. Each pool has settings of its own instead, because
pools of a shard may have different resources. Settings of the user win.

| Setting | Value |
|---|---|
| shared_buffers | 25 % of the memory |
| effective_cache_size | 75 %: a hint for the planner, it reserves nothing |
| maintenance_work_mem | 5 %, at most 1 GB: each autovacuum worker may use it |
| work_mem | a third of what shared_buffers leave, divided by max_connections; at most 64 MB |
| wal_buffers | -1: a share of shared_buffers that Postgres chooses |

Other values are other pods and restart servers: they belong to a new version of the objects (`objects/versions.py`).

The third is for queries that need it more than once, and for what else runs in the container: pgctld, pgBackRest and
the page cache.
"""

from typing import Final, NamedTuple

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.compute import Pool, Resources
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.postgres.conf_format import parse_settings

DEFAULT_MAX_CONNECTIONS: Final = 110
"""What pgctld writes."""
_KB, _MB, _GB = 1 << 10, 1 << 20, 1 << 30
# Less than Postgres needs to start, and more than any node has: Postgres rejects values that are out of its range.
_SMALLEST, _LARGEST = 64 * _MB, 1024 * _GB
_MAX_MAINTENANCE, _MAX_WORK, _MIN_WORK = 1 * _GB, 64 * _MB, 64 * _KB
_WORK_SHARE = 3


class PoolMemory(NamedTuple):
    """The memory of a Postgres container, and which field says so."""

    written: str
    field: str

    @property
    def size(self) -> int:
        return int(parse_quantity(self.written))


def pool_memory(pool: Pool) -> PoolMemory | None:
    """The limit, else the request; None if there is neither, or it is no figure that Postgres could run with. A limit
    range of the namespace may set another one, which is not known here."""
    resources = or_default(pool.postgres, Resources())
    for field in ("limits", "requests"):
        written = or_default(getattr(resources, field), {}).get("memory")
        if written is not None:
            found = PoolMemory(str(written), field)
            return found if _is_usable(found) else None
    return None


def _is_usable(memory: PoolMemory) -> bool:
    try:
        return memory.size >= _SMALLEST
    except ValueError:
        return False


def memory_settings(memory: int, max_connections: int | None) -> dict[str, str]:
    """Settings for a container with this many bytes. `max_connections` is None if it is no plain number: then pgctld's
    work_mem stays, which suits a small server."""
    memory = min(memory, _LARGEST)
    shared = memory // 4 // _MB * _MB
    settings = {
        "effective_cache_size": _size(3 * shared),
        "maintenance_work_mem": _size(min(memory // 20 // _MB * _MB, _MAX_MAINTENANCE)),
        "shared_buffers": _size(shared),
        "wal_buffers": "-1",
    }
    if max_connections is not None:
        work = (memory - shared) // (_WORK_SHARE * max(max_connections, 1))
        settings["work_mem"] = _size(min(max(work, _MIN_WORK), _MAX_WORK))
    return settings


def _size(size: int) -> str:
    return f"{size // _MB}MB" if size % _MB == 0 else f"{size // _KB}kB"


def pool_settings(pool: Pool, written: str) -> dict[str, str]:
    """The settings of the servers of a pool; none if its memory is not known. `written` are the settings of the user,
    in the format of postgresql.conf. Only max_connections makes a difference, whose change needs a restart itself:
    servers restart for every change of these settings, and for most of the user's they need not."""
    memory = pool_memory(pool)
    return {} if memory is None else memory_settings(memory.size, _max_connections(written))


def _max_connections(written: str) -> int | None:
    value = parse_settings(written).get("max_connections", str(DEFAULT_MAX_CONNECTIONS))
    return int(value) if value.isdecimal() else None
