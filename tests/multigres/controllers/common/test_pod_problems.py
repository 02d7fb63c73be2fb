"""The time of the latest volume binding is the time of a change to Bound, not of a claim that is already bound."""

from typing import Any

import msgspec
import pytest

from steward.kube.cache.store import ObjectChange
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key
from steward.multigres.controllers.common.pod_problems import PodProblemFinder
from steward.multigres.views import ClaimView
from steward.testkit import FakeClock


def claim(phase: str) -> ClaimView | None:
    found = {"metadata": {"name": "data", "namespace": "shop"}, "status": {"phase": phase}}
    return msgspec.convert(found, ClaimView) if phase else None


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("Pending", "Bound", True),
        ("", "Bound", False),
        ("Bound", "Bound", False),
        ("Bound", "Lost", False),
        ("Pending", "", False),
    ],
)
def test_a_binding_counts_when_a_pending_claim_becomes_bound(old: str, new: str, counts: bool) -> None:
    clock = FakeClock()
    finder = PodProblemFinder(clock)
    change: ObjectChange[Any] = ObjectChange(
        PERSISTENT_VOLUME_CLAIM, Key("shop", "data"), claim(old), claim(new), False, False
    )
    finder.observe_claim(change)
    assert (finder.last_bound == clock.now()) is counts
