"""Reading the reports of all servers of a shard: one connection, and no server that waits for a slow one."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from steward.local import ports
from steward.multiadmin.answers import PoolerStatus, PostgresReport
from steward.multiadmin.client import Address, Multiadmin, MultiadminClient
from steward.multigres.controllers.servers import reading
from steward.multigres.controllers.servers.reading import NO_ANSWER, read_reports
from steward.multigres.servers.reports import ServerId

SERVERS = [ServerId("z1", f"pg-{number}") for number in range(4)]


class SlowMultiadmin(Multiadmin):
    """Answers about some servers, and never about the others."""

    def __init__(self, *silent: str) -> None:
        self.silent = silent
        self.running = self.most = 0

    async def pooler_status(self, cell: str, name: str) -> PoolerStatus:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(3600 if name in self.silent else 0)
        self.running -= 1
        return PoolerStatus(status=PostgresReport())


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(reading, "QUICK_SECONDS", 0.05)


@pytest.fixture
async def client() -> AsyncIterator[MultiadminClient]:
    client = MultiadminClient(lambda host, port: (host, port))
    yield client
    await client.stop()


async def test_quick_servers_are_read_one_after_another() -> None:
    multiadmin = SlowMultiadmin()
    answers = await read_reports(multiadmin, SERVERS)
    assert len(answers.reports) == 4
    assert multiadmin.most == 1


async def test_slow_server_does_not_hold_up_the_others() -> None:
    answers = await read_reports(SlowMultiadmin("pg-0", "pg-2"), SERVERS)
    assert set(answers.reports) == {"pg-1", "pg-3"}
    assert answers.errors == {"pg-0": NO_ANSWER, "pg-2": NO_ANSWER}
    assert answers.unreachable == ""


async def test_multiadmin_that_answers_about_no_server_is_unreachable() -> None:
    answers = await read_reports(SlowMultiadmin(*(server.name for server in SERVERS)), SERVERS)
    assert answers.unreachable == NO_ANSWER


async def test_multiadmin_that_does_not_listen_is_unreachable(client: MultiadminClient) -> None:
    address = Address("127.0.0.1", ports.free_ports(1)[0])
    answers = await read_reports(client.at(address), SERVERS)
    assert answers.unreachable == f"{address}: it accepts no connection"


async def test_no_servers_need_no_answer() -> None:
    assert await read_reports(SlowMultiadmin(), []) == ({}, {}, "")


async def test_bug_is_not_hidden() -> None:
    class Broken(SlowMultiadmin):
        async def pooler_status(self, cell: str, name: str) -> PoolerStatus:
            raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await read_reports(Broken(), SERVERS)
