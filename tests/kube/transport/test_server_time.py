"""The clock of the API server, and which of two clocks decides."""

import pytest

from steward.kube.transport.server_time import ServerTime
from steward.testkit import FakeClock

DATE = "Fri, 15 Jan 2027 08:00:00 GMT"
SERVER = 1_800_000_000.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(now=SERVER)


@pytest.fixture
def server_time(clock: FakeClock) -> ServerTime:
    found = ServerTime(clock)
    found.note(DATE)
    return found


def test_the_servers_time_goes_on_between_responses(clock: FakeClock, server_time: ServerTime) -> None:
    clock.advance(90)
    assert server_time.now() == SERVER + 90


@pytest.mark.parametrize(("jump", "decides"), [(86400, SERVER + 1), (-86400, SERVER - 86400)])
def test_the_earlier_clock_decides(
    clock: FakeClock, server_time: ServerTime, jump: float, decides: float
) -> None:
    clock.jump(jump)
    assert server_time.earlier(clock.now()) == decides


def test_the_local_clock_decides_while_both_agree(clock: FakeClock, server_time: ServerTime) -> None:
    clock.advance(0.9)
    assert server_time.earlier(clock.now()) == SERVER + 0.9


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_without_a_date_of_the_server_the_local_clock_decides(clock: FakeClock, date: str) -> None:
    server_time = ServerTime(clock)
    server_time.note(date)
    assert server_time.earlier(7.0) == 7.0


def test_a_response_without_a_date_changes_nothing(server_time: ServerTime) -> None:
    server_time.note("")
    assert server_time.now() == SERVER
