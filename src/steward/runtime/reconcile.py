"""What a controller is asked, and what it may answer.

An answer never says "wait": a reconcile that finds something unready records it and comes back.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from steward.kube.objects.kinds import Key


class Done(NamedTuple):
    """Nothing to wait for; the next change brings the key back."""


class RequeueAfter(NamedTuple):
    """Come back after so many seconds, or earlier if something changes. Zero means soon, at the back-off's pace."""

    seconds: float


Result = Done | RequeueAfter

DONE = Done()


class Reconciler(Protocol):
    async def reconcile(self, key: Key) -> Result:
        """Make the world match what the object asks for. Called by one worker a key at a time."""
        ...
