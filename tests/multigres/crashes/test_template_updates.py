"""Template contents come and go although the operator is killed at every write: by word, by policy, and back again.

The words are said with `steward updates`, as a person says them.
"""

from typing import Any

from click.testing import CliRunner

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from tests.multigres.integration.test_topology import run
from tests.multigres.support.process_lives import OF_LIVES, killed_at_every_write, lived
from tests.multigres.support.update_story import Story
from tests.support.kubectl import Kubectl

MANUAL = {"templateChanges": "Manual"}
# The record, the Cell and the annotation; what grows out of a Cell is another story.
OF_THE_STORY = r"/(controllerrevisions|cells|multigresclusters)/[^/]+$"
WINDOW = {"templateChanges": "Window", "window": {"cron": "* * * * *", "duration": "2m"}}

pytestmark = OF_LIVES


class Updates(Story):
    """The cluster of the story, and all lives of its operator."""

    def __init__(self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> None:
        super().__init__(kubectl, namespace)
        self.control_plane = control_plane

    def stands_on(self, replicas: int, generation: int) -> bool:
        """The content has reached the Cell, the status says so, and no request is left."""
        applied = self.status().get("appliedTemplateGenerations", {})
        return (
            self.asked_gateways() == [replicas]
            and applied == {"CellTemplate/gate": generation, "ShardTemplate/std": 1}
            and not any("template-update" in name for name in self.annotations())
        )

    def until(self, is_over: Any) -> None:
        run(lived(self.control_plane, self.namespace, is_over))

    def lives(self, replicas: int, generation: int) -> int:
        def is_over() -> bool:
            return self.stands_on(replicas, generation)

        return run(killed_at_every_write(self.control_plane, self.namespace, is_over, changes=OF_THE_STORY))

    def offer(self, replicas: int) -> str:
        """A newer content of the template, and what it is called once the cluster has seen it."""
        before = self.status().get("availableTemplateRevision")
        self.gateways(replicas)
        self.until(lambda: self.status().get("availableTemplateRevision") not in (None, before))
        return str(self.status()["availableTemplateRevision"])

    def say(self, *words: str) -> str:
        where = ("-n", self.namespace, "--kubeconfig", str(self.control_plane.kubeconfig))
        said = CliRunner().invoke(steward, ["updates", *words, *where])
        assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
        return said.output


def test_updates_and_their_way_back_survive_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    story = Updates(control_plane, kubectl, namespace)
    story.begin(MANUAL)
    story.until(lambda: story.stands_on(0, 1))

    story.offer(1)
    assert "+multiGateway.replicas: 1" in story.say("show", "demo")
    assert "takes it now" in story.say("apply", "demo", "--yes")
    # The record, the Cell and the annotation each end two lives.
    assert story.lives(1, generation=2) >= 2 * 3

    story.cluster({**MANUAL, "acceptedRevision": story.offer(2)})
    assert story.lives(2, generation=3) >= 2 * 2

    [second] = [each for each in story.revisions() if each["data"]["generation"] == 2]
    assert second["metadata"]["name"] in story.say("history", "demo")
    assert "goes back to generation 2" in story.say("rollback", "demo", second["metadata"]["name"], "--yes")
    assert story.lives(1, generation=2) >= 2 * 3

    story.gateways(3)
    story.cluster(WINDOW)
    assert story.lives(3, generation=4) >= 2 * 2
    # One for each content, however often the operator was killed; the one in force has the highest number.
    assert [each["data"]["generation"] for each in story.revisions()] == [1, 3, 2, 4]
    assert story.say() == "No template change waits.\n"
