"""The write fence: rejects writes of a process that does not lead, immediately before they are sent.

Kubernetes has no fencing: the API server does not reject writes of a leader that was paused and lost its lease. The
process has to check its own monotonic clock as the last step. Requests that had passed the check when the process was
paused may still be written: at most one per worker.
"""

from __future__ import annotations

from collections.abc import Callable

from steward.kube.errors import LeaseLost
from steward.kube.transport.request import Request


class WriteFence:
    """Rejects all writes until `allow_when` sets a condition."""

    def __init__(self) -> None:
        self._may_write: Callable[[], bool] = lambda: False

    def allow_when(self, may_write: Callable[[], bool]) -> None:
        self._may_write = may_write

    def check(self, request: Request) -> None:
        if not self._may_write():
            raise LeaseLost(
                f"{request.method} {request.path} was not sent: this process does not hold the lease"
            )
