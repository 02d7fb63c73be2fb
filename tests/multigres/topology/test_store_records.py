"""Encoding of records, and the changes that stored records need."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.multigres.api.backup import Backup, FilesystemBackup, S3Backup
from steward.multigres.topology.protobuf import (
    BYTES,
    VARINT,
    DecodedMessage,
    EncodedField,
    MalformedRecord,
    decode,
    encode,
    message_field,
    number_field,
    text_field,
)
from steward.multigres.topology.store_records import (
    SHUTDOWN,
    CellRecord,
    DatabaseRecord,
    DeleteRecord,
    PoolerRecord,
    StoredRecord,
    WriteRecord,
    decode_cell,
    decode_pooler,
    encode_cell,
    encode_database,
    find_primary,
    record_changes,
    stale_poolers,
)
from tests.multigres.support.pooler_records import encode_pooler

CELL = CellRecord("zone-a", ("minimal-global-topo.default.svc:2379",), "/multigres/global")
CELL_BYTES = (
    "0a067a6f6e652d6112246d696e696d616c2d676c6f62616c2d746f706f2e64656661756c742e7376633a32333739"
    "1a112f6d756c7469677265732f676c6f62616c"
)
FILES = Backup(type="filesystem", filesystem=FilesystemBackup(path="/backups"))
DATABASE = DatabaseRecord("postgres", ("zone-a",), FILES, "AT_LEAST_2")
DATABASE_BYTES = (
    "0a08706f737467726573120c0a0a0a082f6261636b7570731a067a6f6e652d6122100a0a41545f4c454153545f3218032002"
)


def test_a_cell_is_written_as_the_data_plane_reads_it() -> None:
    assert encode_cell(CELL).hex() == CELL_BYTES


def test_a_cell_that_was_written_is_read_back() -> None:
    assert decode_cell(encode_cell(CELL)) == CELL


def test_a_database_is_written_as_the_data_plane_reads_it() -> None:
    assert encode_database(DATABASE).hex() == DATABASE_BYTES


def test_a_database_with_s3_backups_has_location_and_credentials() -> None:
    s3 = S3Backup(bucket="b", region="r", key_prefix="p", credentials_secret="aws")
    location = (
        DecodedMessage.decode(encode_database(DATABASE._replace(backup=Backup(type="s3", s3=s3))))
        .message(2)
        .message(2)
    )
    assert [location.text(i) for i in (1, 2, 4)] == ["b", "r", "p"]
    assert location.number(5) == 1


def test_a_pooler_record_has_identity_and_role() -> None:
    record = decode_pooler(encode_pooler("pool-0", role=1))
    assert (record.name, record.cell, record.shard, record.is_primary) == ("pool-0", "z1", "0-inf", True)


@pytest.mark.parametrize(
    ("name", "host", "pod", "matches"),
    [
        ("pool-0", "x", "pool-0", True),
        ("p-1", "pool-0.headless.ns.svc", "pool-0", True),
        ("p-1", "pool-10.headless.ns.svc", "pool-1", False),
    ],
)
def test_a_pooler_belongs_to_the_pod_with_its_name_or_host(
    name: str, host: str, pod: str, matches: bool
) -> None:
    assert decode_pooler(encode_pooler(name, host=host)).belongs_to_pod(pod) is matches


def test_missing_records_are_created_and_different_ones_rewritten_at_their_revision() -> None:
    stored = {"a/Cell": StoredRecord(b"\x0a\x01x", 7)}
    assert record_changes({"a/Cell": b"\x0a\x01y", "b/Cell": b"\x0a\x01z"}, stored) == [
        WriteRecord("a/Cell", b"\x0a\x01y", 7),
        WriteRecord("b/Cell", b"\x0a\x01z", 0),
    ]


def test_fields_of_a_newer_data_plane_survive_a_rewrite() -> None:
    newer = encode([*text_field(1, "zone-a"), *text_field(3, "/old"), *text_field(99, "new")])
    [write] = record_changes({"a/Cell": encode_cell(CELL)}, {"a/Cell": StoredRecord(newer, 7)})
    assert isinstance(write, WriteRecord)
    assert decode_cell(write.value) == CELL
    assert DecodedMessage.decode(write.value).text(99) == "new"


def test_fields_of_the_data_plane_inside_owned_messages_survive_a_rewrite() -> None:
    location = message_field(2, [message_field(1, text_field(1, "/elsewhere")), *number_field(4, 7)])
    policy = message_field(
        4,
        [
            *text_field(1, "AT_LEAST_2"),
            *number_field(2, 3),
            *number_field(3, 3),
            *number_field(4, 2),
            *text_field(5, "two"),
        ],
    )
    stored = encode([*text_field(1, "postgres"), location, *text_field(3, "zone-a"), policy])
    [write] = record_changes(
        {"a/Database": encode_database(DATABASE)}, {"a/Database": StoredRecord(stored, 7)}
    )
    assert isinstance(write, WriteRecord)
    record = DecodedMessage.decode(write.value)
    assert (record.message(2).message(1).text(1), record.message(2).number(4)) == ("/backups", 7)
    assert (record.message(4).number(2), record.message(4).text(5)) == (3, "two")


def test_a_record_with_additional_fields_of_the_data_plane_is_not_rewritten() -> None:
    extended = [
        *text_field(1, "AT_LEAST_2"),
        *number_field(2, 1),
        *number_field(3, 3),
        *number_field(4, 2),
        *text_field(5, "two"),
    ]
    others = [field for field in decode(encode_database(DATABASE)) if field.number != 4]
    assert (
        record_changes(
            {"a/Database": encode_database(DATABASE)},
            {"a/Database": StoredRecord(encode([*others, message_field(4, extended)]), 7)},
        )
        == []
    )


def test_another_type_of_backup_replaces_the_first() -> None:
    s3 = DATABASE._replace(backup=Backup(type="s3", s3=S3Backup(bucket="b", region="r")))
    stored = {"a/Database": StoredRecord(encode_database(DATABASE), 7)}
    [write] = record_changes({"a/Database": encode_database(s3)}, stored)
    assert isinstance(write, WriteRecord)
    assert [field.number for field in DecodedMessage.decode(write.value).message(2).fields] == [2]


def test_a_malformed_record_is_reported_and_not_overwritten() -> None:
    with pytest.raises(
        MalformedRecord, match=r"^a/Cell is not a record of the data plane .*: delete the key$"
    ):
        record_changes({"a/Cell": encode_cell(CELL)}, {"a/Cell": StoredRecord(b"\xff\xff", 7)})


def test_equal_records_with_another_field_order_are_not_rewritten() -> None:
    first, second = (
        encode([*text_field(1, "a"), *text_field(3, "r")]),
        encode([*text_field(3, "r"), *text_field(1, "a")]),
    )
    assert record_changes({"a/Cell": first}, {"a/Cell": StoredRecord(second, 3)}) == []


def test_only_owned_records_that_are_not_desired_are_deleted() -> None:
    stored = {"owned": StoredRecord(b"", 2), "foreign": StoredRecord(b"", 3)}
    assert record_changes({}, stored, owned=["owned"]) == [DeleteRecord("owned", 2)]


@pytest.mark.parametrize(
    ("roles", "known"),
    [([2, 2], False), ([1, 2], True), ([1, 1], False), ([], False)],
    ids=["no primary", "one primary", "two primaries", "no poolers"],
)
def test_the_primary_is_known_only_if_exactly_one_pooler_reports_it(roles: list[int], known: bool) -> None:
    poolers = [decode_pooler(encode_pooler(f"pool-{i}", role=role)) for i, role in enumerate(roles)]
    assert (find_primary(poolers) is not None) is known


def test_of_two_primaries_that_of_the_newest_rule_counts() -> None:
    """The record of a pooler that was killed keeps its role until the pod starts again."""
    killed = decode_pooler(encode_pooler("pool-0", role=1))._replace(rule=(3, 1))
    elected = decode_pooler(encode_pooler("pool-1", role=1))._replace(rule=(4, 0))
    assert find_primary([killed, elected]) == elected


def test_the_rule_of_a_primary_is_decoded() -> None:
    rule = message_field(2, [*number_field(1, 4), *number_field(2, 7)])
    record = encode([message_field(13, [*number_field(1, 1), rule])])
    assert decode_pooler(record).rule == (4, 7)


def test_a_pooler_that_has_shut_down_is_not_the_primary() -> None:
    stopped = decode_pooler(encode_pooler("pool-0", role=1))._replace(lifecycle=SHUTDOWN)
    other = decode_pooler(encode_pooler("pool-1", role=1))
    assert find_primary([stopped]) is None
    assert find_primary([stopped, other]) == other


def test_a_killed_primary_does_not_hide_the_one_of_a_newer_rule() -> None:
    killed = decode_pooler(encode_pooler("pool-0", role=1, rule=(3, 1)))
    elected = decode_pooler(encode_pooler("pool-1", role=1, rule=(4, 0)))
    assert find_primary([killed, elected]) == elected


def test_records_of_deleted_pods_are_found() -> None:
    records: dict[str, PoolerRecord] = {f"k{i}": decode_pooler(encode_pooler(f"pool-{i}")) for i in range(3)}
    assert stale_poolers(records, ["pool-0", "pool-2"]) == ["k1"]


FIELDS = st.one_of(
    st.builds(EncodedField, st.integers(1, 1000), st.just(VARINT), st.integers(0, 2**63)),
    st.builds(EncodedField, st.integers(1, 1000), st.just(BYTES), st.binary(max_size=40)),
)


@given(st.lists(FIELDS, max_size=8))
def test_encoded_fields_can_be_decoded(fields: list[EncodedField]) -> None:
    assert decode(encode(fields)) == fields


@given(st.binary(max_size=60))
def test_any_bytes_are_decoded_or_rejected_with_a_reason(data: bytes) -> None:
    with suppress(MalformedRecord):
        assert isinstance(decode_pooler(data), PoolerRecord)


@pytest.mark.parametrize(
    "data", [encode_pooler("p", host="h" * (8 << 10)), encode([EncodedField(99, VARINT, 1)] * 1001)]
)
def test_a_record_that_is_too_large_to_be_one_is_malformed(data: bytes) -> None:
    with pytest.raises(MalformedRecord):
        decode_pooler(data)
