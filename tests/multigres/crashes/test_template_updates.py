"""Template updates and rollbacks with a crash at every write, by command and by policy.

The commands are `steward updates`, as a user runs them.
"""

from typing import Any

from click.testing import CliRunner

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from tests.multigres.support.crash_runs import crash_at_every_write, run_until
from tests.multigres.support.template_update_scenario import TemplateUpdateScenario
from tests.multigres.support.waiting import run_async
from tests.support.crashes import CRASH_MARKS
from tests.support.kubectl import Kubectl

MANUAL = {"templateChanges": "Manual"}
# The revision, the Cell and the annotation; writes below a Cell are not part of this scenario.
SCENARIO_PATHS = r"/(controllerrevisions|cells|multigresclusters)/[^/]+$"
WINDOW = {"templateChanges": "Window", "window": {"cron": "* * * * *", "duration": "2m"}}

pytestmark = CRASH_MARKS


class Updates(TemplateUpdateScenario):
    """A cluster whose operator crashes at every write."""

    def __init__(self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> None:
        super().__init__(kubectl, namespace)
        self.control_plane = control_plane

    def uses_content(self, replicas: int, generation: int) -> bool:
        """The content has reached the Cell, the status reports it, and no request is left."""
        applied = self.status().get("appliedTemplateGenerations", {})
        return (
            self.gateway_replicas() == [replicas]
            and applied == {"CellTemplate/gate": generation, "ShardTemplate/std": 1}
            and not any("template-update" in name for name in self.annotations())
        )

    def run_until_done(self, is_done: Any) -> None:
        run_async(run_until(self.control_plane, self.namespace, is_done))

    def crash_until(self, replicas: int, generation: int) -> int:
        def is_done() -> bool:
            return self.uses_content(replicas, generation)

        return run_async(
            crash_at_every_write(self.control_plane, self.namespace, is_done, changes=SCENARIO_PATHS)
        )

    def change_template(self, replicas: int) -> str:
        """Changes the template; returns the name of the new revision once the cluster reports it."""
        before = self.status().get("availableTemplateRevision")
        self.set_gateways(replicas)
        self.run_until_done(lambda: self.status().get("availableTemplateRevision") not in (None, before))
        return str(self.status()["availableTemplateRevision"])

    def run_updates_command(self, *words: str) -> str:
        where = ("-n", self.namespace, "--kubeconfig", str(self.control_plane.kubeconfig))
        result = CliRunner().invoke(steward, ["updates", *words, *where])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.output


def test_template_updates_and_rollbacks_survive_a_crash_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    scenario = Updates(control_plane, kubectl, namespace)
    scenario.create(MANUAL)
    scenario.run_until_done(lambda: scenario.uses_content(0, 1))

    scenario.change_template(1)
    assert "+multiGateway.replicas: 1" in scenario.run_updates_command("show", "demo")
    assert "Requested" in scenario.run_updates_command("apply", "demo", "--yes", "--no-wait")
    # The revision, the Cell and the annotation crash the operator.
    assert scenario.crash_until(1, generation=2) >= 3

    scenario.cluster({**MANUAL, "acceptedRevision": scenario.change_template(2)})
    assert scenario.crash_until(2, generation=3) >= 2

    [second] = [each for each in scenario.revisions() if each["data"]["generation"] == 2]
    assert second["metadata"]["name"] in scenario.run_updates_command("history", "demo")
    assert "rolls back to generation 2" in scenario.run_updates_command(
        "rollback", "demo", second["metadata"]["name"], "--yes", "--no-wait"
    )
    assert scenario.crash_until(1, generation=2) >= 3

    scenario.set_gateways(3)
    scenario.cluster(WINDOW)
    assert scenario.crash_until(3, generation=4) >= 2
    # One revision per content, however often the operator crashed; the active one has the highest number.
    assert [each["data"]["generation"] for each in scenario.revisions()] == [1, 3, 2, 4]
    assert scenario.run_updates_command() == "No change is pending.\n"
