"""Only the moment in which a claim is bound counts, not that it is."""

from typing import Any

import msgspec
import pytest

from steward.kube.cache.store import Change
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM, Key
from steward.multigres.controllers.common.volume_bindings import Bindings
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
def test_a_volume_is_bound_when_a_claim_that_waited_has_it(old: str, new: str, counts: bool) -> None:
    clock = FakeClock()
    bindings = Bindings(clock)
    change: Change[Any] = Change(
        PERSISTENT_VOLUME_CLAIM, Key("shop", "data"), claim(old), claim(new), False, False
    )
    bindings.hear(change)
    assert (bindings.moment().last_bound == clock.now()) is counts
