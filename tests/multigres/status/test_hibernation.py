import pytest

from steward.multigres.api.scalars import Phase
from steward.multigres.status.conditions import ObjectHealth
from steward.multigres.status.hibernation import hibernation_health


@pytest.mark.parametrize(
    ("phase", "hibernates", "expected"),
    [
        ("Stopped", True, "Hibernated"),
        ("Stopped", False, "Stopped"),
        ("Progressing", True, "Progressing"),
        ("Degraded", True, "Degraded"),
    ],
)
def test_a_cluster_hibernates_once_everything_has_stopped(
    phase: Phase, hibernates: bool, expected: Phase
) -> None:
    health = ObjectHealth(phase, "Stopped", "every pool has 0 replicas", True, False)
    found = hibernation_health(health, hibernates)
    assert found.phase == expected
    assert ("spec.hibernation to false" in found.message) is (expected == "Hibernated")
    assert (found.is_ready, found.is_available) == (True, False)
