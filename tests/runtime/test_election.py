import pytest
from msgspec.structs import replace

from steward.kube.errors import LeaseLost
from steward.kube.request import Effect, Request
from steward.runtime.election import lease_name
from steward.runtime.guard import WriteGuard
from steward.runtime.settings import Settings, Shard

WRITE = Request(method="PATCH", path="/api/v1/x", effect=Effect.WRITE)


def test_the_guard_is_shut_until_it_knows_whom_to_ask() -> None:
    with pytest.raises(LeaseLost, match="PATCH /api/v1/x was stopped"):
        WriteGuard().check(WRITE)


def test_the_guard_asks_anew_for_every_write() -> None:
    guard = WriteGuard()
    answers = [True, False]
    guard.ask(lambda: answers.pop(0))
    guard.check(WRITE)
    with pytest.raises(LeaseLost):
        guard.check(WRITE)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (Settings(), "tenant-operator"),
        (Settings(lease_name="mine"), "mine"),
        (replace(Settings(), shard=Shard(1, 4)), "tenant-operator-1-of-4"),
        (replace(Settings(lease_name="mine"), shard=Shard(0, 2)), "mine-0-of-2"),
    ],
)
def test_each_shard_has_a_lease_of_its_own(settings: Settings, name: str) -> None:
    assert lease_name("tenant-operator", settings) == name
