"""The size of a pgBackRest repository, as a real PostgreSQL server reads it from the program that archives its WAL.

The program answers with what pgBackRest 2.60 wrote about a real repository of a full, an incremental and a differential
backup.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.postgres.address import PostgresAddress
from steward.postgres.repository_size import info_program, repository_bytes
from steward.postgres.sessions import PostgresFailure
from tests.support.database_servers import archiving_postgres_server

BACKUP = {
    "annotation": {"note": "a\tb \\ \"c\" 'd' ü"},
    "archive": {"start": "000000010000000000000002", "stop": "000000010000000000000002"},
    "backrest": {"format": 5, "version": "2.60.0"},
    "database": {"id": 1, "repo-key": 1},
    "error": False,
    "label": "20261118-023945F",
    "lsn": {"start": "0/8000028", "stop": "0/8000158"},
    "prior": None,
    "reference": None,
    "timestamp": {"start": 1794969585, "stop": 1794969587},
    "type": "full",
}
STANZA = {"cipher": "none", "name": "multigres", "status": {"code": 0, "message": "ok"}}


def answer(*deltas: int) -> str:
    sizes = [{"delta": 23217114, "repository": {"delta": delta}, "size": 23217114} for delta in deltas]
    return json.dumps([{**STANZA, "archive": [], "backup": [{**BACKUP, "info": size} for size in sizes]}])


class Archiving:
    def __init__(self, directory: Path, address: PostgresAddress, password: str) -> None:
        self.program = directory / "pgbackrest"
        self.address, self.password = address, password

    def set_answer(self, text: str, status: int = 0) -> None:
        written = self.program.with_name("answer")
        written.write_text(text)
        # The answer depends on the arguments: any other call fails.
        expected = '"$*" = "--stanza=multigres --config=/none --log-level-console=off --log-level-stderr=off'
        expected += ' --log-level-file=off info --output=json"'
        self.program.write_text(f"#!/bin/sh\n[ {expected} ] || exit 9\ncat {written}\nexit {status}\n")
        self.program.chmod(0o755)

    async def size(self) -> int:
        return await repository_bytes(self.address, self.password)


@pytest.fixture(scope="module")
def archiving() -> Iterator[Archiving]:
    command = "{directory}/pgbackrest --stanza=multigres --config=/none archive-push %p"
    with archiving_postgres_server(command) as server:
        address = PostgresAddress(server.host, server.port, server.user, "postgres")
        yield Archiving(server.socket.parent, address, server.password)


async def test_the_sizes_of_all_backups_are_added(archiving: Archiving) -> None:
    archiving.set_answer(answer(2760740, 162733, 163453))
    assert await archiving.size() == 3086926


@pytest.mark.parametrize("text", ["", "[]", answer()], ids=["nothing", "no stanza", "no backup"])
async def test_a_repository_without_backups_has_no_bytes(archiving: Archiving, text: str) -> None:
    archiving.set_answer(text)
    assert await archiving.size() == 0


@pytest.mark.parametrize(("text", "status"), [("", 28), ("no repository", 0)], ids=["error", "words"])
async def test_an_answer_that_is_none_is_a_failure(archiving: Archiving, text: str, status: int) -> None:
    archiving.set_answer(text, status)
    with pytest.raises(PostgresFailure, match="pgBackRest does not report its repository"):
        await archiving.size()


async def test_nothing_is_left_on_the_server(archiving: Archiving) -> None:
    archiving.set_answer(answer(1))
    assert await archiving.size() == await archiving.size() == 1


async def test_a_rejected_password_is_a_failure(archiving: Archiving) -> None:
    with pytest.raises(PostgresFailure, match="does not accept"):
        await repository_bytes(archiving.address, "wrong")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "(disabled)",
        "cp %p /archive/%f",
        "pgbackrest --stanza=multigres --config=/a archive-push %p; rm -rf /",
        "pgbackrest --stanza=$(id) --config=/a archive-push %p",
        "pgbackrest --stanza=multigres --config='/a b' archive-push %p",
        "pgbackrest archive-push %p",
    ],
)
def test_another_archive_command_is_not_run(command: str) -> None:
    with pytest.raises(PostgresFailure, match="archive_command does not call pgBackRest"):
        info_program(command)


def test_the_command_of_the_data_plane_becomes_a_question() -> None:
    configuration = "--stanza=multigres --config=/var/lib/pooler/pgbackrest/pgbackrest.conf"
    assert info_program(f"pgbackrest {configuration} archive-push %p") == (
        f"timeout 20 pgbackrest {configuration} --log-level-console=off --log-level-stderr=off --log-level-file=off"
        " info --output=json"
    )
