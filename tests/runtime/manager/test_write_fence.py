import pytest

from steward.kube.errors import LeaseLost
from steward.kube.transport.request import Effect, Request
from steward.runtime.manager.write_fence import WriteFence

WRITE = Request(method="PATCH", path="/api/v1/x", effect=Effect.WRITE)


def test_the_write_fence_rejects_all_writes_until_a_condition_is_set() -> None:
    with pytest.raises(LeaseLost, match="PATCH /api/v1/x was not sent"):
        WriteFence().check(WRITE)


def test_the_write_fence_checks_every_write() -> None:
    write_fence = WriteFence()
    answers = [True, False]
    write_fence.allow_when(lambda: answers.pop(0))
    write_fence.check(WRITE)
    with pytest.raises(LeaseLost):
        write_fence.check(WRITE)
