"""Records as the data plane reads them, and what changes in the topology server."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.multigres.api.backup import Backup, FilesystemBackup, S3Backup
from steward.multigres.topology.protobuf import (
    BYTES,
    VARINT,
    Field,
    MalformedRecord,
    Record,
    decode,
    encode,
    message,
    number,
    text,
)
from steward.multigres.topology.store_records import (
    SHUTDOWN,
    CellRecord,
    DatabaseRecord,
    PoolerRecord,
    Remove,
    Stored,
    Write,
    changes,
    dead_poolers,
    decode_cell,
    decode_pooler,
    encode_cell,
    encode_database,
    primary,
)

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


def pooler(name: str, *, role: int = 2, host: str = "") -> bytes:
    identity = message(1, [*number(1, 1), *text(2, "z1"), *text(3, name)])
    shard = message(2, [*text(1, "postgres"), *text(2, "default"), *text(3, "0-inf")])
    return encode(
        [
            identity,
            shard,
            *text(8, host or f"{name}.svc"),
            message(12, number(1, 2)),
            message(13, number(1, role)),
        ]
    )


def test_a_cell_is_written_as_the_data_plane_reads_it() -> None:
    assert encode_cell(CELL).hex() == CELL_BYTES


def test_a_cell_that_was_written_is_read_back() -> None:
    assert decode_cell(encode_cell(CELL)) == CELL


def test_a_database_is_written_as_the_data_plane_reads_it() -> None:
    assert encode_database(DATABASE).hex() == DATABASE_BYTES


def test_a_database_in_s3_says_where_and_with_whose_credentials() -> None:
    s3 = S3Backup(bucket="b", region="r", key_prefix="p", credentials_secret="aws")
    location = (
        Record.of(encode_database(DATABASE._replace(backup=Backup(type="s3", s3=s3)))).message(2).message(2)
    )
    assert [location.text(i) for i in (1, 2, 4)] == ["b", "r", "p"]
    assert location.number(5) == 1


def test_a_pooler_says_who_it_is_and_whether_it_leads() -> None:
    record = decode_pooler(pooler("pool-0", role=1))
    assert (record.name, record.cell, record.shard, record.is_primary) == ("pool-0", "z1", "0-inf", True)


@pytest.mark.parametrize(
    ("name", "host", "pod", "matches"),
    [
        ("pool-0", "x", "pool-0", True),
        ("p-1", "pool-0.headless.ns.svc", "pool-0", True),
        ("p-1", "pool-10.headless.ns.svc", "pool-1", False),
    ],
)
def test_a_pooler_belongs_to_the_pod_whose_name_it_bears(
    name: str, host: str, pod: str, matches: bool
) -> None:
    assert decode_pooler(pooler(name, host=host)).is_of_pod(pod) is matches


def test_what_is_missing_is_created_and_what_differs_is_rewritten_at_its_revision() -> None:
    stored = {"a/Cell": Stored(b"\x0a\x01x", 7)}
    assert changes({"a/Cell": b"\x0a\x01y", "b/Cell": b"\x0a\x01z"}, stored) == [
        Write("a/Cell", b"\x0a\x01y", 7),
        Write("b/Cell", b"\x0a\x01z", 0),
    ]


def test_what_a_newer_data_plane_added_to_a_record_survives_its_rewriting() -> None:
    newer = encode([*text(1, "zone-a"), *text(3, "/old"), *text(99, "new")])
    [write] = changes({"a/Cell": encode_cell(CELL)}, {"a/Cell": Stored(newer, 7)})
    assert isinstance(write, Write)
    assert decode_cell(write.value) == CELL
    assert Record.of(write.value).text(99) == "new"


def test_what_the_data_plane_keeps_inside_our_messages_survives_their_rewriting() -> None:
    location = message(2, [message(1, text(1, "/elsewhere")), *number(4, 7)])
    policy = message(
        4, [*text(1, "AT_LEAST_2"), *number(2, 3), *number(3, 3), *number(4, 2), *text(5, "two")]
    )
    kept = encode([*text(1, "postgres"), location, *text(3, "zone-a"), policy])
    [write] = changes({"a/Database": encode_database(DATABASE)}, {"a/Database": Stored(kept, 7)})
    assert isinstance(write, Write)
    record = Record.of(write.value)
    assert (record.message(2).message(1).text(1), record.message(2).number(4)) == ("/backups", 7)
    assert (record.message(4).number(2), record.message(4).text(5)) == (3, "two")


def test_a_record_to_which_the_data_plane_added_its_own_is_left_alone() -> None:
    theirs = [*text(1, "AT_LEAST_2"), *number(2, 1), *number(3, 3), *number(4, 2), *text(5, "two")]
    known = [field for field in decode(encode_database(DATABASE)) if field.number != 4]
    assert (
        changes(
            {"a/Database": encode_database(DATABASE)},
            {"a/Database": Stored(encode([*known, message(4, theirs)]), 7)},
        )
        == []
    )


def test_another_kind_of_backup_takes_the_place_of_the_first() -> None:
    s3 = DATABASE._replace(backup=Backup(type="s3", s3=S3Backup(bucket="b", region="r")))
    stored = {"a/Database": Stored(encode_database(DATABASE), 7)}
    [write] = changes({"a/Database": encode_database(s3)}, stored)
    assert isinstance(write, Write)
    assert [field.number for field in Record.of(write.value).message(2).fields] == [2]


def test_a_value_under_our_key_that_is_no_record_is_named_and_not_overwritten() -> None:
    with pytest.raises(
        MalformedRecord, match=r"^a/Cell holds no record of the data plane .*: delete the key$"
    ):
        changes({"a/Cell": encode_cell(CELL)}, {"a/Cell": Stored(b"\xff\xff", 7)})


def test_what_is_equal_is_left_alone_even_in_another_order() -> None:
    first, second = encode([*text(1, "a"), *text(3, "r")]), encode([*text(3, "r"), *text(1, "a")])
    assert changes({"a/Cell": first}, {"a/Cell": Stored(second, 3)}) == []


def test_only_what_is_ours_and_unwanted_goes() -> None:
    stored = {"ours": Stored(b"", 2), "theirs": Stored(b"", 3)}
    assert changes({}, stored, ours=["ours"]) == [Remove("ours", 2)]


@pytest.mark.parametrize(
    ("roles", "known"),
    [([2, 2], False), ([1, 2], True), ([1, 1], False), ([], False)],
    ids=["nobody leads", "one leads", "two say that they lead", "nobody is there"],
)
def test_the_primary_is_known_only_when_exactly_one_says_so(roles: list[int], known: bool) -> None:
    poolers = [decode_pooler(pooler(f"pool-{i}", role=role)) for i, role in enumerate(roles)]
    assert (primary(poolers) is not None) is known


def test_a_pooler_that_has_shut_down_leads_no_more() -> None:
    ended = decode_pooler(pooler("pool-0", role=1))._replace(lifecycle=SHUTDOWN)
    other = decode_pooler(pooler("pool-1", role=1))
    assert primary([ended]) is None
    assert primary([ended, other]) == other


def test_records_of_pods_that_are_gone_are_found() -> None:
    records: dict[str, PoolerRecord] = {f"k{i}": decode_pooler(pooler(f"pool-{i}")) for i in range(3)}
    assert dead_poolers(records, ["pool-0", "pool-2"]) == ["k1"]


FIELDS = st.one_of(
    st.builds(Field, st.integers(1, 1000), st.just(VARINT), st.integers(0, 2**63)),
    st.builds(Field, st.integers(1, 1000), st.just(BYTES), st.binary(max_size=40)),
)


@given(st.lists(FIELDS, max_size=8))
def test_what_is_encoded_is_decoded_again(fields: list[Field]) -> None:
    assert decode(encode(fields)) == fields


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_reason(data: bytes) -> None:
    with suppress(MalformedRecord):
        assert isinstance(decode_pooler(data), PoolerRecord)
