"""The reconciler interface: the result of a reconcile, and the lanes of the work queue.

A reconcile never waits inside: it records that something is not ready, and is requeued.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, Protocol

from steward.kube.objects.kinds import Key


class Lane(IntEnum):
    """Lanes of the work queue; the smaller number goes first."""

    URGENT = 0  # a part of the object became ready or has to be repaired: little is left to do
    FAST = 1  # an object changed
    SLOW = 2  # the initial list, a resync, a change that affects many keys


class Done(NamedTuple):
    """No requeue; the next change enqueues the key."""


class RequeueAfter(NamedTuple):
    """Requeue after this many seconds, or earlier on a change. Zero means with the backoff of a failed key."""

    seconds: float


Result = Done | RequeueAfter

DONE = Done()


class Reconciler(Protocol):
    async def reconcile(self, key: Key) -> Result:
        """Bring the cluster to the state that the object's spec describes. Never called concurrently for one key."""
        ...
