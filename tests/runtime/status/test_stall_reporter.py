"""Lasting errors of a reconcile are reported in the status; errors that end by themselves are not."""

import pytest

from steward.kube.errors import Conflict, Forbidden, Invalid, KubeError
from steward.kube.objects.kinds import Key
from steward.runtime.reconcile import DONE, RequeueAfter, Result
from steward.runtime.status.stall_reporter import TERMINATING_SECONDS, StallReportingReconciler

KEY = Key("shop", "x")


class FailingReconciler:
    def __init__(self, error: KubeError | None) -> None:
        self.error = error

    async def reconcile(self, key: Key) -> Result:
        if self.error is not None:
            raise self.error
        return DONE


class Reports:
    def __init__(self, error: KubeError | None) -> None:
        self.messages: list[str] = []
        self.reconciler = StallReportingReconciler(FailingReconciler(error), self.report)

    async def report(self, key: Key, message: str) -> None:
        assert key == KEY
        self.messages.append(message)


async def test_a_rejected_request_is_reported_with_the_object_and_raised_for_the_retry() -> None:
    error = Invalid(422, "Invalid", "affinity: wrong type")
    error.add_note("while applying StatefulSet shop/x")
    reports = Reports(error)
    with pytest.raises(Invalid):
        await reports.reconciler.reconcile(KEY)
    assert reports.messages == ["applying StatefulSet shop/x: affinity: wrong type"]


async def test_a_conflict_is_left_to_the_retry() -> None:
    reports = Reports(Conflict(409, "Conflict", "changed meanwhile"))
    with pytest.raises(Conflict):
        await reports.reconciler.reconcile(KEY)
    assert reports.messages == []


async def test_a_terminating_namespace_is_no_failure() -> None:
    message = "unable to create new content in namespace shop because it is being terminated"
    reports = Reports(Forbidden(403, "Forbidden", message))
    assert await reports.reconciler.reconcile(KEY) == RequeueAfter(TERMINATING_SECONDS)
    assert reports.messages == []


async def test_a_successful_reconcile_is_passed_on() -> None:
    reports = Reports(None)
    assert await reports.reconciler.reconcile(KEY) == DONE
    assert reports.messages == []
