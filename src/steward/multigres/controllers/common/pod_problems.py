"""Finds problems of pods and volumes, with the time of the latest volume binding in any namespace.

A provisioner creates volumes one after another: while claims of any owner become bound, an unbound claim is still in
the queue. Reporting it would cost one status update for each cluster of a fleet that starts.
"""

from collections.abc import Iterable

from steward.kube.cache.store import ObjectChange
from steward.kube.clock import Clock
from steward.multigres.status.conditions import PodProblems
from steward.multigres.status.pod_problems import ProvisioningTimes, first_hint, first_problem
from steward.multigres.views import ClaimView, PodView

BOUND = "Bound"


class PodProblemFinder:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.last_bound = float("-inf")

    def observe_claim(self, change: ObjectChange[ClaimView]) -> None:
        """Ignores claims that are bound when the cache first sees them: the time of that binding is unknown."""
        if change.old is None or change.new is None:
            return
        if change.old.status.phase != BOUND and change.new.status.phase == BOUND:
            self.last_bound = self._clock.now()

    def find(self, pods: Iterable[PodView], claims: Iterable[ClaimView] = ()) -> PodProblems:
        pods, claims = list(pods), list(claims)
        at = ProvisioningTimes(self._clock.now(), self.last_bound)
        return PodProblems(first_problem(pods, claims), first_hint(pods, claims, at))
