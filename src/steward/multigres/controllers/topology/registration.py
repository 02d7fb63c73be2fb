"""Brings the records in a topology server up to date. Every write is guarded by the revision that was seen, and says
that it is done only when all of them went through."""

from collections.abc import Collection, Iterable

from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import (
    Change,
    PoolerRecord,
    Stored,
    Write,
    changes,
    dead_poolers,
    decode_pooler,
    left_of_databases,
    pooler_prefix,
)

ATTEMPTS = 3
RECORDS = ("/Cell", "/Database")


async def register(
    etcd: EtcdClient,
    root: str,
    desired: dict[str, bytes],
    ours: Collection[str] | None,
    still_used: Collection[str] = (),
) -> None:
    """Writes what is missing or differs, and removes what nobody wants: of `ours`, or of all records when None.

    What is `still_used` stays although nobody wants it any more: its pods are on their way out and read it to the end.
    """
    for _ in range(ATTEMPTS):
        found = {
            key: Stored(*value)
            for kept in ("cells", "databases")
            for key, value in (await etcd.list(f"{root}/{kept}/")).items()
        }
        stored = {key: value for key, value in found.items() if key.endswith(RECORDS)}
        removable = set(found if ours is None else ours) - set(still_used)
        staying = {*desired, *still_used}
        # First: without its record nobody would know any more that they belong to a database of ours.
        leftovers = left_of_databases(root, found, staying, ours)
        if await _carry_out(etcd, [*leftovers, *changes(desired, stored, removable)]):
            return
    raise EtcdError(f"the records below {root} keep changing while they are written")


async def _carry_out(etcd: EtcdClient, wanted: Iterable[Change]) -> bool:
    """Whether everything went through; false when somebody was faster, and what stands there must be read again."""
    done = True
    for change in wanted:
        if isinstance(change, Write):
            done &= await etcd.put(change.key, change.value, change.revision)
        else:
            done &= await etcd.delete(change.key, change.revision)
    return done


async def living_poolers(
    etcd: EtcdClient, root: str, databases: Collection[str], pods: Collection[str]
) -> list[PoolerRecord]:
    """The poolers of our databases. Records of poolers whose pods are gone are taken away."""
    stored = await etcd.list(pooler_prefix(root))
    own = {
        key: pooler
        for key, value in stored.items()
        if (pooler := _pooler(value.value)) is not None and pooler.database in databases
    }
    dead = set(dead_poolers(own, pods))
    for key in sorted(dead):
        await etcd.delete(key, stored[key].revision)
    return [pooler for key, pooler in own.items() if key not in dead]


def _pooler(value: bytes) -> PoolerRecord | None:
    try:
        return decode_pooler(value)
    except MalformedRecord:
        return None
