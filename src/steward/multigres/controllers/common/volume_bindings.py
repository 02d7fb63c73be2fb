"""When a volume was last bound to a claim, whosever it is.

Whoever makes volumes takes one claim after another: as long as others are bound, a claim that is not has its turn to
come, and to say that it waits would be a status for each of a fleet that comes up.
"""

from steward.kube.cache.store import Change
from steward.kube.clock import Clock
from steward.multigres.status.pod_problems import Moment
from steward.multigres.views import ClaimView

BOUND = "Bound"


class Bindings:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = float("-inf")

    def hear(self, change: Change[ClaimView]) -> None:
        """What is bound when it is first seen was bound some time."""
        if change.old is None or change.new is None:
            return
        if change.old.status.phase != BOUND and change.new.status.phase == BOUND:
            self._last = self._clock.now()

    def moment(self) -> Moment:
        return Moment(self._clock.now(), self._last)
