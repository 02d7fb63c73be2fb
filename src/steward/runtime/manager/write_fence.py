"""May this process write at this moment? Asked for each write, when nothing but the socket is left to do.

Kubernetes has no fencing: a leader that was paused cannot be told so by the server. It has to look at its own
monotonic clock, and it has to look last. What was already past this check when the process was paused may still be
written: at most one request a worker.
"""

from __future__ import annotations

from collections.abc import Callable

from steward.kube.errors import LeaseLost
from steward.kube.transport.request import Request


class WriteGuard:
    """Shut until it is told who answers."""

    def __init__(self) -> None:
        self._may_write: Callable[[], bool] = lambda: False

    def ask(self, may_write: Callable[[], bool]) -> None:
        self._may_write = may_write

    def check(self, request: Request) -> None:
        if not self._may_write():
            raise LeaseLost(
                f"{request.method} {request.path} was stopped: this process does not hold the lease"
            )
