"""Reports failures that retrying does not end in the status of the object, not only in the log.

The API server rejects the same request at every attempt: the object is Stalled, with the API server's message. Errors
that end by themselves (no answer, a conflict, too many requests) are left to the retry.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from steward.kube.errors import BadRequest, Forbidden, Invalid, RequestTooLarge, Unreadable
from steward.kube.objects.kinds import Key
from steward.runtime.reconcile import Reconciler, RequeueAfter, Result

LASTING_ERRORS: Final = (Invalid, BadRequest, Forbidden, RequestTooLarge, Unreadable)
NAMESPACE_TERMINATING: Final = "is being terminated"
"""Part of the API server's message about a terminating namespace: no failure, and nothing for a user to fix."""
TERMINATING_SECONDS: Final = 5.0

StallReport = Callable[[Key, str], Awaitable[object]]
"""Writes the Stalled condition of an object, with a message."""


class StallReportingReconciler:
    def __init__(self, reconciler: Reconciler, report: StallReport) -> None:
        self._reconciler = reconciler
        self._report = report

    async def reconcile(self, key: Key) -> Result:
        try:
            return await self._reconciler.reconcile(key)
        except LASTING_ERRORS as error:
            message = stall_message(error)
            if not message:
                return RequeueAfter(TERMINATING_SECONDS)
            await self._report(key, message)
            raise


def stall_message(error: Exception | None) -> str:
    """The message of the Stalled condition; empty for errors that end by themselves."""
    if not isinstance(error, LASTING_ERRORS) or NAMESPACE_TERMINATING in str(error):
        return ""
    return error_message(error)


def error_message(error: Exception) -> str:
    """The API server's message, after the first note, which names the object."""
    notes = getattr(error, "__notes__", [])
    return f"{notes[0].removeprefix('while ')}: {error}" if notes else str(error)
