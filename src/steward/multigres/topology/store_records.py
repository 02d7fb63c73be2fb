"""Records in the topology server and the changes that they need. Pure.

The operator writes records of cells and databases. Poolers register themselves; the operator only retires the records
of pods that no longer exist. Records are compared by their fields, not by bytes, because other versions may encode the
same fields in another order.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.api.unset import or_default
from steward.multigres.topology.protobuf import (
    WHOLE_FIELD,
    DecodedMessage,
    EncodedField,
    MalformedRecord,
    OwnedFields,
    decode,
    encode,
    is_equivalent,
    merge_owned_fields,
    message_field,
    number_field,
    text_field,
)

# Fields that the operator writes, by the last part of the key. Fields that the data plane sets inside these messages
# are not among them: the generation of a backup location, the version and description of a policy.
OWNED_FIELDS: Mapping[str, OwnedFields] = {
    "Cell": dict.fromkeys((1, 2, 3), WHOLE_FIELD),
    "Database": {
        1: WHOLE_FIELD,
        2: {1: {1: WHOLE_FIELD}, 2: dict.fromkeys((1, 2, 3, 4, 5), WHOLE_FIELD), 3: WHOLE_FIELD},
        3: WHOLE_FIELD,
        4: dict.fromkeys((1, 3, 4), WHOLE_FIELD),
    },
}
QUORUM = {"AT_LEAST_2": 3, "MULTI_CELL_AT_LEAST_2": 4}
POOLER_BYTES = 8 << 10
"""The longest record of a pooler that is decoded; real ones have a few hundred bytes. The server is not trusted."""
POOLER_STATE: OwnedFields = {7: WHOLE_FIELD, 12: {1: WHOLE_FIELD}, 13: WHOLE_FIELD}
"""What the operator writes into the record of a pooler whose pod is gone."""
DISABLED = 1
PRIMARY_ROLE = 1
SHUTDOWN = 4
QUARANTINED = 5


class CellRecord(NamedTuple):
    """Addresses and root path of the topology server with a cell's records."""

    name: str
    addresses: tuple[str, ...]
    root: str


class DatabaseRecord(NamedTuple):
    """Cells, backup location and durability policy of a database."""

    name: str
    cells: tuple[str, ...]
    backup: Backup
    durability_policy: str


class PoolerRecord(NamedTuple):
    """A record that a pooler wrote about itself."""

    cell: str
    name: str
    hostname: str
    database: str
    table_group: str
    shard: str
    is_primary: bool
    lifecycle: int
    rule: tuple[int, int] = (0, 0)
    """Term and subterm of the rule by which a primary leads."""

    def belongs_to_pod(self, pod: str) -> bool:
        return pod in self.pod_names()

    def pod_names(self) -> set[str]:
        """The names that its pod may have. The name of a pod in a StatefulSet is the first label of its host name."""
        return {self.name, self.hostname, self.hostname.partition(".")[0]}


def cell_key(root: str, cell: str) -> str:
    return f"{root}/cells/{cell}/Cell"


def database_key(root: str, database: str) -> str:
    return f"{root}/databases/{database}/Database"


def pooler_prefix(root: str) -> str:
    return f"{root}/poolers/"


def encode_cell(cell: CellRecord) -> bytes:
    addresses = [field for address in cell.addresses for field in text_field(2, address)]
    return encode([*text_field(1, cell.name), *addresses, *text_field(3, cell.root)])


def decode_cell(data: bytes) -> CellRecord:
    record = DecodedMessage.decode(data)
    return CellRecord(record.text(1), tuple(record.texts(2)), record.text(3))


def encode_database(database: DatabaseRecord) -> bytes:
    cells = [field for cell in database.cells for field in text_field(3, cell)]
    return encode(
        [
            *text_field(1, database.name),
            message_field(2, _backup_location(database.backup)),
            *cells,
            message_field(4, _durability(database.durability_policy)),
        ]
    )


def _backup_location(backup: Backup) -> list[EncodedField]:
    # Poolers with this field do not start without a passphrase, instead of making a repository without encryption.
    required = number_field(3, int(backup.encryption is not UNSET))
    return [*_repository(backup), *required]


def _repository(backup: Backup) -> list[EncodedField]:
    if backup.s3 is UNSET or backup.type != "s3":
        path = "/backups" if backup.filesystem is UNSET else or_default(backup.filesystem.path, "/backups")
        return [message_field(1, text_field(1, path))]
    s3 = backup.s3
    return [
        message_field(
            2,
            [
                *text_field(1, s3.bucket),
                *text_field(2, s3.region),
                *text_field(3, or_default(s3.endpoint, "")),
                *text_field(4, or_default(s3.key_prefix, "")),
                *number_field(5, int(_uses_environment(backup))),
            ],
        )
    ]


def _uses_environment(backup: Backup) -> bool:
    """Credentials from a Secret are passed as environment variables, too."""
    s3 = backup.s3
    return s3 is not UNSET and (
        or_default(s3.use_env_credentials, False) or bool(or_default(s3.credentials_secret, ""))
    )


def _durability(policy: str) -> list[EncodedField]:
    return [*text_field(1, policy), *number_field(3, QUORUM[policy]), *number_field(4, 2)]


def decode_pooler(data: bytes) -> PoolerRecord:
    if len(data) > POOLER_BYTES:
        raise MalformedRecord(f"the record of a pooler is longer than {POOLER_BYTES} bytes")
    record = DecodedMessage.decode(data)
    identity, shard, routing = record.message(1), record.message(2), record.message(13)
    rule = routing.message(2)
    return PoolerRecord(
        cell=identity.text(2),
        name=identity.text(3),
        hostname=record.text(8),
        database=shard.text(1),
        table_group=shard.text(2),
        shard=shard.text(3),
        is_primary=routing.number(1) == PRIMARY_ROLE,
        lifecycle=record.message(12).number(1),
        rule=(rule.number(1), rule.number(2)),
    )


class StoredRecord(NamedTuple):
    """A stored value and its revision, on which writes are conditional."""

    value: bytes
    revision: int


class WriteRecord(NamedTuple):
    """Writes `value` if the key is still at `revision`; 0 means that the key must not exist."""

    key: str
    value: bytes
    revision: int


class DeleteRecord(NamedTuple):
    """Deletes the key if it is still at `revision`."""

    key: str
    revision: int


RecordChange = WriteRecord | DeleteRecord


def leftover_database_keys(
    root: str, stored: Mapping[str, StoredRecord], desired: Collection[str], owned: Collection[str] | None
) -> list[DeleteRecord]:
    """Keys that the data plane wrote below deleted databases, such as the marker that a shard was created, which would
    keep a database of the same name from being created again.

    `owned` is None if no other cluster uses the root.
    """
    return [
        DeleteRecord(key, value.revision)
        for key, value in sorted(stored.items())
        if (record := _database_of(root, key)) not in ("", key, *desired)
        and (owned is None or record in owned)
    ]


def _database_of(root: str, key: str) -> str:
    """Key of the database record that a key belongs to; empty for any other key."""
    prefix = f"{root}/databases/"
    name, slash, _ = key.removeprefix(prefix).partition("/")
    return database_key(root, name) if key.startswith(prefix) and slash else ""


def record_changes(
    desired: Mapping[str, bytes], stored: Mapping[str, StoredRecord], owned: Iterable[str] = ()
) -> list[RecordChange]:
    """Changes that make the stored records match `desired`. Keys in `owned` that are not desired are deleted."""
    writes = [write for key in sorted(desired) if (write := _write(key, desired[key], stored.get(key)))]
    deletes = [
        DeleteRecord(key, stored[key].revision)
        for key in sorted(owned)
        if key in stored and key not in desired
    ]
    return [*writes, *deletes]


def _write(key: str, value: bytes, stored: StoredRecord | None) -> WriteRecord | None:
    if stored is None:
        return WriteRecord(key, value, 0)
    owned = OWNED_FIELDS[key.rpartition("/")[2]]
    try:
        merged = merge_owned_fields(stored.value, decode(value), owned)
        unchanged = is_equivalent(stored.value, merged, owned)
    except MalformedRecord as error:
        raise MalformedRecord(f"{key} is not a record of the data plane ({error}): delete the key") from error
    return None if unchanged else WriteRecord(key, merged, stored.revision)


def find_primary(poolers: Sequence[PoolerRecord]) -> PoolerRecord | None:
    """The shard's primary; None if no pooler reports to be primary, or more than one by the newest rule.

    The record of a pooler that was killed keeps the role that it had: the newest rule decides, as it does for gateways.
    Poolers that have shut down are ignored.
    """
    primaries = [pooler for pooler in poolers if pooler.is_primary and pooler.lifecycle != SHUTDOWN]
    newest = max((pooler.rule for pooler in primaries), default=None)
    current = [pooler for pooler in primaries if pooler.rule == newest]
    return current[0] if len(current) == 1 else None


def retire_pooler(
    key: str, pooler: PoolerRecord, stored: StoredRecord, *, is_member: bool | None
) -> RecordChange | None:
    """The next change of the record of a pooler whose pod is gone; `is_member` is None if it is unknown whether the
    cohort of its shard still has it.

    An orchestrator drops a member whose record is marked as shut down. It never drops one that was killed, and neither
    one whose record was deleted before: such a member counts for the quorum for ever.
    """
    if pooler.lifecycle != SHUTDOWN:
        return WriteRecord(key, mark_shut_down(stored.value), stored.revision)
    return DeleteRecord(key, stored.revision) if is_member is False else None


def mark_shut_down(record: bytes) -> bytes:
    """The record as a pooler itself leaves it at the end of its shutdown: without a role, other fields unchanged."""
    state = [*number_field(7, DISABLED), message_field(12, number_field(1, SHUTDOWN))]
    return merge_owned_fields(record, state, POOLER_STATE)


def stale_poolers(poolers: Mapping[str, PoolerRecord], pods: Iterable[str]) -> list[str]:
    """Keys of records whose pods no longer exist."""
    existing = set(pods)
    return sorted(key for key, pooler in poolers.items() if not existing & pooler.pod_names())
