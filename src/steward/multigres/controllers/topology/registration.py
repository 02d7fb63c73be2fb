"""Writes the records of a cluster into its topology server. Every write is conditional on the revision that was read;
`register_records` returns only when all of them have succeeded."""

import asyncio
from collections.abc import Callable, Collection, Iterable

from steward.etcd.client import EtcdClient
from steward.etcd.errors import EtcdError
from steward.multigres.topology.protobuf import MalformedRecord
from steward.multigres.topology.store_records import (
    PoolerRecord,
    RecordChange,
    StoredRecord,
    WriteRecord,
    decode_pooler,
    leftover_database_keys,
    pooler_prefix,
    record_changes,
    retire_pooler,
    stale_poolers,
)

Membership = Callable[[PoolerRecord], bool | None]
"""Whether the cohort of its shard has a pooler; None if unknown."""

ATTEMPTS = 3
RECORDS_AT_ONCE = 50
"""Decoding a record takes up to a millisecond; in between, other tasks run."""
RECORDS_PER_POD = 8
"""A pooler that starts again may leave an older record for the same pod."""
RECORDS = ("/Cell", "/Database")


async def register_records(
    etcd: EtcdClient,
    root: str,
    desired: dict[str, bytes],
    own: Collection[str] | None,
    retained: Collection[str] = (),
) -> None:
    """Writes missing and outdated records and removes undesired ones: among `own`, or among all records if None.

    Records in `retained` stay although they are no longer desired: pods that are shutting down still read them.
    """
    for _ in range(ATTEMPTS):
        found = {
            key: StoredRecord(*value)
            for folder in ("cells", "databases")
            for key, value in (await etcd.list(f"{root}/{folder}/")).items()
        }
        stored = {key: value for key, value in found.items() if key.endswith(RECORDS)}
        removable = set(found if own is None else own) - set(retained)
        # Leftovers go first: without the database's record nothing shows that they belong to this cluster.
        leftovers = leftover_database_keys(root, found, {*desired, *retained}, own)
        if await _write_changes(etcd, [*leftovers, *record_changes(desired, stored, removable)]):
            return
    raise EtcdError(f"the records below {root} keep changing while they are written")


async def _write_changes(etcd: EtcdClient, changes: Iterable[RecordChange]) -> bool:
    """Whether all writes succeeded; False if another client was faster and the records must be read again."""
    done = True
    for change in changes:
        if isinstance(change, WriteRecord):
            done &= await etcd.write(change.key, change.value, change.revision)
        else:
            done &= await etcd.delete(change.key, change.revision)
    return done


async def living_poolers(
    etcd: EtcdClient,
    root: str,
    databases: Collection[str],
    pods: Collection[str],
    is_member: Membership | None,
) -> list[PoolerRecord]:
    """The poolers of the given databases. Retires the records of poolers whose pods are gone, unless `is_member` is
    None."""
    stored = await etcd.list(pooler_prefix(root))
    own: dict[str, PoolerRecord] = {}
    for number, (key, value) in enumerate(stored.items(), start=1):
        pooler = _decode(value.value)
        if pooler is not None and pooler.database in databases:
            own[key] = pooler
        if number % RECORDS_AT_ONCE == 0:
            await asyncio.sleep(0)
    stale = set(stale_poolers(own, pods))
    if is_member is not None:
        retired = [
            retire_pooler(key, own[key], StoredRecord(*stored[key]), is_member=is_member(own[key]))
            for key in sorted(stale)
        ]
        # A record that another client has just changed is read again at the next check.
        await _write_changes(etcd, [change for change in retired if change is not None])
    living = [pooler for key, pooler in own.items() if key not in stale]
    # The result is kept until the next check, so a server must not be able to fill the memory with it. Primaries come
    # first: two of them must not become one.
    return sorted(living, key=lambda pooler: not pooler.is_primary)[: RECORDS_PER_POD * len(pods)]


def _decode(value: bytes) -> PoolerRecord | None:
    try:
        return decode_pooler(value)
    except MalformedRecord:
        return None
