"""A cluster is created and deleted although its operator crashes a few times on the way.

`tests/multigres/crashes` crashes it at every write, of these and of all other changes (`make attacks`).
"""

import pytest

from steward.local.control_plane import ControlPlane
from tests.multigres.support.cluster_deletion import PASSWORD, databases
from tests.multigres.support.crash_scenario import CrashScenario
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

pytestmark = CRASH_MARKS
CRASHES = 3


@pytest.fixture
def scenario(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> CrashScenario:
    return CrashScenario(control_plane, kubectl, namespace)


def test_a_cluster_is_created_and_deleted_once_although_the_operator_crashes(scenario: CrashScenario) -> None:
    since = scenario.mark()
    scenario.apply_spec(databases=databases())
    scenario.crash_after_first_writes(CRASHES)
    scenario.run_until_done(scenario.is_ready)
    parts, claims = scenario.parts(), scenario.uids("pvc")
    assert scenario.made(since) == sorted(parts)
    scenario.delete_cluster()
    scenario.crash_after_first_writes(CRASHES)
    scenario.run_until_done(lambda: scenario.remaining_objects() == [PASSWORD])
    # The garbage collector deletes the Shard with its group.
    assert scenario.deleted(since) == sorted(part for part in parts if not part.startswith("shards/"))
    assert scenario.repeated(since) == []
    assert scenario.uids("pvc") == claims
