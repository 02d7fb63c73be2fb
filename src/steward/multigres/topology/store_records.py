"""What stands in the topology server, and what must change there. Pure.

Cells and databases are Steward's to write; poolers register themselves, and Steward only takes away the records of pods
that are gone. A record is compared by meaning, not by bytes: what another version wrote equally is left alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.backup import Backup
from steward.multigres.resolution.layers import given
from steward.multigres.topology.protobuf import (
    WHOLE,
    Field,
    Known,
    MalformedRecord,
    Record,
    decode,
    encode,
    message,
    number,
    rewritten,
    same_meaning,
    text,
)

# By the last part of the key: the fields that are ours to write. What a newer data plane adds is not, nor what it
# keeps inside our messages: the generation of a backup location, the version and description of a policy.
OUR_FIELDS: Mapping[str, Known] = {
    "Cell": dict.fromkeys((1, 2, 3), WHOLE),
    "Database": {
        1: WHOLE,
        2: {1: {1: WHOLE}, 2: dict.fromkeys((1, 2, 3, 4, 5), WHOLE)},
        3: WHOLE,
        4: dict.fromkeys((1, 3, 4), WHOLE),
    },
}
QUORUM = {"AT_LEAST_2": 3, "MULTI_CELL_AT_LEAST_2": 4}
PRIMARY_ROLE = 1
SHUTDOWN = 4


class CellRecord(NamedTuple):
    """Where a cell's own records are."""

    name: str
    addresses: tuple[str, ...]
    root: str


class DatabaseRecord(NamedTuple):
    """In which cells a database lives and where its backups are."""

    name: str
    cells: tuple[str, ...]
    backup: Backup
    durability_policy: str


class PoolerRecord(NamedTuple):
    """A pooler as it registered itself."""

    cell: str
    name: str
    hostname: str
    database: str
    table_group: str
    shard: str
    is_primary: bool
    lifecycle: int

    def is_of_pod(self, pod: str) -> bool:
        return pod in (self.name, self.hostname) or self.hostname.startswith(f"{pod}.")


def cell_key(root: str, cell: str) -> str:
    return f"{root}/cells/{cell}/Cell"


def database_key(root: str, database: str) -> str:
    return f"{root}/databases/{database}/Database"


def pooler_prefix(root: str) -> str:
    return f"{root}/poolers/"


def encode_cell(cell: CellRecord) -> bytes:
    addresses = [field for address in cell.addresses for field in text(2, address)]
    return encode([*text(1, cell.name), *addresses, *text(3, cell.root)])


def decode_cell(data: bytes) -> CellRecord:
    record = Record.of(data)
    return CellRecord(record.text(1), tuple(record.texts(2)), record.text(3))


def encode_database(database: DatabaseRecord) -> bytes:
    cells = [field for cell in database.cells for field in text(3, cell)]
    return encode(
        [
            *text(1, database.name),
            message(2, _backup_location(database.backup)),
            *cells,
            message(4, _durability(database.durability_policy)),
        ]
    )


def _backup_location(backup: Backup) -> list[Field]:
    if backup.s3 is UNSET or backup.type != "s3":
        path = "/backups" if backup.filesystem is UNSET else given(backup.filesystem.path, "/backups")
        return [message(1, text(1, path))]
    s3 = backup.s3
    return [
        message(
            2,
            [
                *text(1, s3.bucket),
                *text(2, s3.region),
                *text(3, given(s3.endpoint, "")),
                *text(4, given(s3.key_prefix, "")),
                *number(5, int(_uses_environment(backup))),
            ],
        )
    ]


def _uses_environment(backup: Backup) -> bool:
    """Credentials that a Secret gives arrive in the environment too."""
    s3 = backup.s3
    return s3 is not UNSET and (
        given(s3.use_env_credentials, False) or bool(given(s3.credentials_secret, ""))
    )


def _durability(policy: str) -> list[Field]:
    return [*text(1, policy), *number(3, QUORUM[policy]), *number(4, 2)]


def decode_pooler(data: bytes) -> PoolerRecord:
    record = Record.of(data)
    identity, shard = record.message(1), record.message(2)
    return PoolerRecord(
        cell=identity.text(2),
        name=identity.text(3),
        hostname=record.text(8),
        database=shard.text(1),
        table_group=shard.text(2),
        shard=shard.text(3),
        is_primary=record.message(13).number(1) == PRIMARY_ROLE,
        lifecycle=record.message(12).number(1),
    )


class Stored(NamedTuple):
    """A value as the server holds it; `revision` guards its rewriting."""

    value: bytes
    revision: int


class Write(NamedTuple):
    """Put `value`, provided that the key still stands at `revision`; 0 means that it must not exist."""

    key: str
    value: bytes
    revision: int


class Remove(NamedTuple):
    """Delete the key, provided that it still stands at `revision`."""

    key: str
    revision: int


Change = Write | Remove


def left_of_databases(
    root: str, found: Mapping[str, Stored], staying: Collection[str], ours: Collection[str] | None
) -> list[Remove]:
    """What the data plane wrote below databases that are gone, such as the word that a shard was once made: it would
    keep a database of the same name from ever being made again. `ours` is None where the root is ours alone."""
    return [
        Remove(key, value.revision)
        for key, value in sorted(found.items())
        if (record := _database_of(root, key)) not in ("", key, *staying) and (ours is None or record in ours)
    ]


def _database_of(root: str, key: str) -> str:
    """The record of the database below which a key stands; empty for any other key."""
    prefix = f"{root}/databases/"
    name, slash, _ = key.removeprefix(prefix).partition("/")
    return database_key(root, name) if key.startswith(prefix) and slash else ""


def changes(
    desired: Mapping[str, bytes], stored: Mapping[str, Stored], ours: Iterable[str] = ()
) -> list[Change]:
    """What to do so that the server holds `desired`. Keys in `ours` that nobody wants any more go."""
    written = [write for key in sorted(desired) if (write := _write(key, desired[key], stored.get(key)))]
    gone = [Remove(key, stored[key].revision) for key in sorted(ours) if key in stored and key not in desired]
    return [*written, *gone]


def _write(key: str, value: bytes, stored: Stored | None) -> Write | None:
    if stored is None:
        return Write(key, value, 0)
    ours = OUR_FIELDS[key.rpartition("/")[2]]
    try:
        merged = rewritten(stored.value, decode(value), ours)
        unchanged = same_meaning(stored.value, merged, ours)
    except MalformedRecord as error:
        raise MalformedRecord(f"{key} holds no record of the data plane ({error}): delete the key") from error
    return None if unchanged else Write(key, merged, stored.revision)


def primary(poolers: Sequence[PoolerRecord]) -> PoolerRecord | None:
    """The shard's primary; None when nobody, or more than one, says that it is: then it is unknown, not guessed.

    A pooler that has shut down says nothing any more: its record stays as it was when it led.
    """
    leading = [pooler for pooler in poolers if pooler.is_primary and pooler.lifecycle != SHUTDOWN]
    return leading[0] if len(leading) == 1 else None


def dead_poolers(poolers: Mapping[str, PoolerRecord], pods: Iterable[str]) -> list[str]:
    """Keys of records whose pods are gone."""
    living = list(pods)
    return sorted(key for key, pooler in poolers.items() if not any(pooler.is_of_pod(pod) for pod in living))
