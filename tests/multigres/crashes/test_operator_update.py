"""Clusters move to the pods of a newer operator that crashes at every write, statuses included."""

from steward.local.control_plane import ControlPlane
from tests.multigres.support.crash_runs import crash_at_every_write, run_until
from tests.multigres.support.operator_update_scenario import OperatorUpdateScenario
from tests.multigres.support.waiting import run_async
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

NAMES = ("first", "second")
# The condition that occupies a slot, and the children that the cluster writes; writes below them are not part of this.
SCENARIO_PATHS = r"/(multigresclusters/[^/]+/status|(toposervers|cells|tablegroups)/[^/?]+)(\?|$)"

pytestmark = CRASH_MARKS


def test_clusters_move_one_after_another_although_the_operator_crashes_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    scenario = OperatorUpdateScenario(kubectl, namespace)
    for name in NAMES:
        scenario.create(name)
    run_async(run_until(control_plane, namespace, lambda: all(map(scenario.is_ready, NAMES))))
    scenario.set_first_version()

    def is_done() -> bool:
        return all(map(scenario.is_updated, NAMES))

    with scenario.at_most_one_moves():
        crashes = run_async(crash_at_every_write(control_plane, namespace, is_done, changes=SCENARIO_PATHS))
    # The condition and three children of each cluster crash the operator.
    assert crashes >= 2 * 4
