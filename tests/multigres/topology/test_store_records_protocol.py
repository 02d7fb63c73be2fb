"""Numbers of fields and values, as the protocol of the data plane defines them.

They are written out here: a wrong number would be encoded and decoded by the operator without a difference.
"""

import pytest

from steward.multigres.api.backup import Backup, FilesystemBackup, RepositoryEncryption, S3Backup
from steward.multigres.topology.protobuf import (
    DecodedMessage,
    encode,
    message_field,
    number_field,
    text_field,
)
from steward.multigres.topology.store_records import (
    DISABLED,
    POOLER_BYTES,
    PRIMARY_ROLE,
    QUARANTINED,
    SHUTDOWN,
    CellRecord,
    DatabaseRecord,
    DeleteRecord,
    PoolerRecord,
    StoredRecord,
    WriteRecord,
    decode_pooler,
    encode_cell,
    encode_database,
    leftover_database_keys,
    mark_shut_down,
    record_changes,
    retire_pooler,
)
from steward.testkit.fake_data_plane.records import Lifecycle, Role, Serving
from tests.multigres.support.pooler_records import encode_pooler

ENCRYPTED = RepositoryEncryption(secret_name="key")
S3 = S3Backup(
    bucket="new", region="r", endpoint="https://s3", key_prefix="p", credentials_secret="credentials"
)
DATABASE = DatabaseRecord(
    "postgres", ("z1", "z2"), Backup(type="s3", s3=S3, encryption=ENCRYPTED), "MULTI_CELL_AT_LEAST_2"
)
S3_BEFORE = S3Backup(bucket="old", region="s", endpoint="https://old", key_prefix="q")
BEFORE = DatabaseRecord("older", ("z3",), Backup(type="s3", s3=S3_BEFORE), "AT_LEAST_2")
FILES = Backup(type="filesystem", filesystem=FilesystemBackup(path="/mnt"))
ROOT = "/multigres/global"


def rewritten(key: str, value: bytes, stored: bytes) -> DecodedMessage:
    [write] = record_changes({key: value}, {key: StoredRecord(stored, 7)})
    assert isinstance(write, WriteRecord)
    return DecodedMessage.decode(write.value)


def fields_of_database(record: DecodedMessage) -> list[object]:
    location, policy = record.message(2), record.message(4)
    s3 = location.message(2)
    return [
        record.text(1),
        record.texts(3),
        [s3.text(number) for number in (1, 2, 3, 4)],
        (s3.number(5), location.number(3)),
        (policy.text(1), policy.number(3), policy.number(4)),
    ]


def test_every_field_of_a_database_is_written_and_rewritten() -> None:
    expected = [
        "postgres",
        ["z1", "z2"],
        ["new", "r", "https://s3", "p"],
        (1, 1),
        ("MULTI_CELL_AT_LEAST_2", 4, 2),
    ]
    assert fields_of_database(DecodedMessage.decode(encode_database(DATABASE))) == expected
    found = rewritten("a/Database", encode_database(DATABASE), encode_database(BEFORE))
    assert fields_of_database(found) == expected


def test_the_other_policy_needs_two_servers_in_any_cell() -> None:
    assert fields_of_database(DecodedMessage.decode(encode_database(BEFORE)))[-2:] == [
        (0, 0),
        ("AT_LEAST_2", 3, 2),
    ]


@pytest.mark.parametrize(
    ("s3", "uses_environment"),
    [
        (S3_BEFORE, 0),
        (S3Backup(bucket="b", region="r", use_env_credentials=False), 0),
        (S3Backup(bucket="b", region="r", use_env_credentials=True), 1),
        (S3Backup(bucket="b", region="r", credentials_secret="aws"), 1),
    ],
)
def test_credentials_come_from_the_environment_if_there_are_any(s3: S3Backup, uses_environment: int) -> None:
    record = encode_database(DATABASE._replace(backup=Backup(type="s3", s3=s3)))
    assert DecodedMessage.decode(record).message(2).message(2).number(5) == uses_environment


def test_the_directory_of_a_repository_is_written_and_rewritten() -> None:
    files = DATABASE._replace(backup=FILES)
    before = BEFORE._replace(backup=Backup(type="filesystem", filesystem=FilesystemBackup(path="/old")))
    found = rewritten("a/Database", encode_database(files), encode_database(before))
    assert found.message(2).message(1).text(1) == "/mnt"


def test_every_field_of_a_cell_is_rewritten() -> None:
    stored = encode_cell(CellRecord("a", ("one:2379",), "/old"))
    found = rewritten("a/Cell", encode_cell(CellRecord("b", ("two:2379", "three:2379"), "/new")), stored)
    assert (found.text(1), found.texts(2), found.text(3)) == ("b", ["two:2379", "three:2379"], "/new")


def test_states_have_the_numbers_that_poolers_write() -> None:
    assert (SHUTDOWN, QUARANTINED) == (Lifecycle.SHUTDOWN, Lifecycle.QUARANTINED)
    assert (PRIMARY_ROLE, DISABLED) == (Role.PRIMARY, Serving.DISABLED)


def test_a_pooler_that_is_marked_has_shut_down_without_a_role_and_keeps_the_rest() -> None:
    lifecycle = message_field(12, [*number_field(1, 2), *text_field(2, "pooler active")])
    serving = number_field(7, 9)
    stored = encode(
        [*text_field(8, "pool-0.svc"), *serving, lifecycle, message_field(13, number_field(1, 1))]
    )
    record = DecodedMessage.decode(mark_shut_down(stored))
    assert (record.number(7), record.message(12).number(1)) == (1, 4)
    assert (record.text(8), record.message(12).text(2)) == ("pool-0.svc", "pooler active")
    assert sorted(field.number for field in record.fields) == [7, 8, 12]


@pytest.mark.parametrize(
    ("lifecycle", "is_member", "change"),
    [
        (2, False, WriteRecord),
        (SHUTDOWN, False, DeleteRecord),
        (SHUTDOWN, True, type(None)),
        (SHUTDOWN, None, type(None)),
    ],
)
def test_the_record_of_a_pooler_without_a_pod_is_marked_and_later_deleted(
    lifecycle: int, is_member: bool | None, change: type
) -> None:
    stored = StoredRecord(encode_pooler("pool-0"), 7)
    pooler = decode_pooler(stored.value)._replace(lifecycle=lifecycle)
    found = retire_pooler("k", pooler, stored, is_member=is_member)
    assert type(found) is change
    if found is not None:
        assert (found.key, found.revision) == ("k", 7)


def test_all_fields_of_a_pooler_are_decoded() -> None:
    record = decode_pooler(encode_pooler("pool-0", role=1, host="pool-0.svc", rule=(4, 7)))
    expected = PoolerRecord("z1", "pool-0", "pool-0.svc", "postgres", "default", "0-inf", True, 2, (4, 7))
    assert record == expected
    assert decode_pooler(b"") == PoolerRecord("", "", "", "", "", "", False, 0)


def test_a_pooler_may_use_all_of_its_bytes() -> None:
    longest = encode_pooler("p", host="h" * (POOLER_BYTES - len(encode_pooler("p", host="")) - 20))
    filled = longest + encode(text_field(99, "x" * (POOLER_BYTES - len(longest) - 4)))
    padding = POOLER_BYTES - len(filled)
    exact = longest + encode(text_field(99, "x" * (POOLER_BYTES - len(longest) - 4 + padding)))
    assert len(exact) == POOLER_BYTES == 8192
    assert decode_pooler(exact).name == "p"


def test_an_owned_record_is_deleted_only_if_it_is_stored_and_not_desired() -> None:
    cell = encode_cell(CellRecord("a", (), "/r"))
    stored = {"a/Cell": StoredRecord(cell, 3), "b/Cell": StoredRecord(cell, 4)}
    owned = ["a/Cell", "b/Cell", "never/Cell"]
    assert record_changes({"a/Cell": cell}, stored, owned) == [DeleteRecord("b/Cell", 4)]


@pytest.mark.parametrize(
    ("key", "owned", "is_deleted"),
    [
        (f"{ROOT}/databases/old/shards/0", None, True),
        (f"{ROOT}/databases/old/shards/0", [f"{ROOT}/databases/old/Database"], True),
        (f"{ROOT}/databases/old/shards/0", [f"{ROOT}/databases/other/Database"], False),
        (f"{ROOT}/databases/old/Database", None, False),
        (f"{ROOT}/databases/kept/shards/0", None, False),
        (f"{ROOT}/databases/old", None, False),
        ("/elsewhere/databases/old/shards/0", None, False),
    ],
)
def test_keys_below_a_database_that_is_gone_are_deleted(
    key: str, owned: list[str] | None, is_deleted: bool
) -> None:
    found = leftover_database_keys(
        ROOT, {key: StoredRecord(b"", 5)}, [f"{ROOT}/databases/kept/Database"], owned
    )
    assert found == [DeleteRecord(key, 5)] * is_deleted
