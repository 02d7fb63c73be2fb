"""Servers that are not multiadmin, or lie: each answer ends in an error, within bounds."""

import json
from typing import Any

import pytest
from yarl import URL

from steward.multiadmin import client as module
from steward.multiadmin.backups import BackupShard, ShardBackups
from steward.multiadmin.client import Address, MultiadminClient
from steward.multiadmin.errors import MalformedAnswer, MultiadminError, RequestRejected, Unreachable
from tests.etcd.support.hostile_server import (
    CHUNK,
    CHUNKED,
    FOREIGN,
    Behaviour,
    answer_of,
    dripping_answer,
    endless_answer,
    gzip_bomb,
    hostile_server,
    raw_answer,
)
from tests.multiadmin.support.statuses import PRIMARY

SENT_BYTES = 16 << 20
DEEP = b'{"status":' + b"[" * 100_000


def with_status(**fields: Any) -> bytes:
    return json.dumps({"status": {**PRIMARY["status"], **fields}}).encode()


async def error_of(behaviour: Behaviour) -> MultiadminError:
    with hostile_server(behaviour) as server:
        url = URL(server.url)
        client = MultiadminClient(lambda host, port: (host, port))
        with pytest.raises(MultiadminError) as caught:
            await client.at(Address(url.host or "", url.port or 0)).pooler_status("z1", "pg-0")
        await client.stop()
    assert FOREIGN not in str(caught.value)
    assert server.sent_bytes < SENT_BYTES
    return caught.value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"null",
        b'{"status":null}',
        FOREIGN.encode(),
        DEEP,
        json.dumps({"status": FOREIGN}).encode(),
        with_status(postgresReady=FOREIGN),
        with_status(postgresStatus=7),
        with_status(postgresStatus="x" * 300),
        with_status(replicationStatus={"lag": FOREIGN}),
        with_status(replicationStatus={"lag": "9" * 5000 + "s"}),
        with_status(primaryStatus={"connectedFollowers": [FOREIGN]}),
        json.dumps({**PRIMARY, "consensusStatus": {"currentPosition": {"position": FOREIGN}}}).encode(),
    ],
)
async def test_answer_that_multiadmin_does_not_send_is_one_error(body: bytes) -> None:
    error = await error_of(answer_of(body))
    assert isinstance(error, MalformedAnswer)
    assert "its answer is not the JSON that multiadmin sends" in str(error)


async def test_redirect_is_not_followed() -> None:
    with hostile_server(answer_of(json.dumps(PRIMARY).encode())) as inner:
        error = await error_of(answer_of(b"", "307 Temporary Redirect", f"Location: {inner.url}/"))
    assert "it answers with a redirect (307)" in str(error)
    assert inner.requests == []


async def test_compressed_answer_is_not_read() -> None:
    error = await error_of(answer_of(gzip_bomb(64 << 20), "200 OK", "Content-Encoding: gzip"))
    assert "is compressed" in str(error)


@pytest.mark.parametrize(
    "body", [FOREIGN, json.dumps({"code": 99, "message": FOREIGN}), json.dumps({"message": FOREIGN})]
)
async def test_error_that_is_not_of_multiadmin_is_not_quoted(body: str) -> None:
    error = await error_of(answer_of(body.encode(), "500 Internal"))
    assert isinstance(error, RequestRejected)
    assert str(error).endswith("it answers with status 500")


async def test_long_sentence_is_cut() -> None:
    body = json.dumps({"code": 9, "message": "x" * 3000}).encode()
    error = await error_of(answer_of(body, "400 Bad Request"))
    assert isinstance(error, RequestRejected)
    assert len(error.sentence) == 300


@pytest.mark.parametrize(
    "data",
    [
        f"SSH-2.0-{FOREIGN}\r\n".encode(),
        f"HTTP/1.1 200 OK\r\n{FOREIGN}\r\n\r\n".encode(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{",
        b"",
    ],
)
async def test_answer_that_is_not_http_is_an_error_without_its_words(data: bytes) -> None:
    await error_of(raw_answer(data))


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (CHUNKED, CHUNK),
        (b"HTTP/1.1 200 OK\r\n\r\n", b" " * 0x10000),
        (b"HTTP/1.1 500 Internal\r\n\r\n", b" " * 0x10000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 0x10000),
    ],
    ids=["chunks", "body", "error", "one header"],
)
async def test_endless_answer_is_read_to_a_bound(head: bytes, piece: bytes) -> None:
    await error_of(endless_answer(head, piece))


async def test_slow_answer_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATUS_SECONDS", 0.3)
    error = await error_of(dripping_answer(CHUNKED, b"1\r\n \r\n", 0.01))
    assert isinstance(error, Unreachable)
    assert "no answer within 0.3 s" in str(error)


BACKUP = {"backupId": "20260821-100000F", "tableGroup": "default", "shard": "0-inf"}


async def backup_error_of(behaviour: Behaviour, call: str, *arguments: str) -> MultiadminError:
    with hostile_server(behaviour) as server:
        url = URL(server.url)
        client = MultiadminClient(lambda host, port: (host, port))
        multiadmin = client.at(Address(url.host or "", url.port or 0))
        backups = ShardBackups(multiadmin, BackupShard("postgres", "default", "0-inf"))
        with pytest.raises(MultiadminError) as caught:
            await getattr(backups, call)(*arguments)
        await client.stop()
    assert FOREIGN not in str(caught.value)
    assert server.sent_bytes < SENT_BYTES
    return caught.value


@pytest.mark.parametrize(
    ("call", "document"),
    [
        (("start", "full"), {}),
        (("start", "full"), {"jobId": "two words"}),
        (("start", "full"), {"jobId": "x" * 600}),
        (("job", "job-1"), {}),
        (("job", "job-1"), {"status": 7}),
        (("job", "job-1"), {"status": "JOB_STATUS_COMPLETED", "backupId": FOREIGN}),
        (("list",), {"backups": FOREIGN}),
        (("list",), {"backups": [{}]}),
        (("list",), {"backups": [{**BACKUP, "backupId": "../../etc"}]}),
        (("list",), {"backups": [{**BACKUP, "backupSizeBytes": "-1"}]}),
        (("list",), {"backups": [{**BACKUP, "startLsn": FOREIGN}]}),
        (("list",), {"backups": [{**BACKUP, "stopTimestamp": "9" * 5000}]}),
        (("list",), {"backups": [{**BACKUP, "multipoolerServiceId": "x" * 300}]}),
        (("verify",), {"duration": FOREIGN}),
        (("expire",), {"expiredBackupIds": [FOREIGN]}),
    ],
)
async def test_answer_about_backups_that_does_not_fit_is_one_error(
    call: tuple[str, ...], document: object
) -> None:
    error = await backup_error_of(answer_of(json.dumps(document).encode()), *call)
    assert isinstance(error, MalformedAnswer)
    assert "its answer is not the JSON that multiadmin sends" in str(error)


async def test_endless_list_of_backups_is_read_to_a_bound() -> None:
    error = await backup_error_of(endless_answer(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 0x10000), "list")
    assert "its answer is longer than 1048576 bytes" in str(error)
