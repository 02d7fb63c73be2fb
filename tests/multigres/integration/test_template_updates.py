"""Template updates with the operator as a process on a real control plane."""

from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from tests.multigres.conftest import running_operator
from tests.multigres.support.update_story import Story, eventually
from tests.support.kubectl import Kubectl

MANUAL = {"templateChanges": "Manual"}
HELD = "multigres.com/in-use-by-demo"
FAR_AWAY = {"templateChanges": "Window", "window": {"cron": "0 0 29 2 *", "duration": "1m"}}


@pytest.fixture
def story(operator: object, kubectl: Kubectl, namespace: str) -> Story:
    return Story(kubectl, namespace)


def test_under_manual_a_change_waits_for_the_annotation_and_can_be_taken_back(story: Story) -> None:
    story.begin(MANUAL)
    story.until_generation(1)
    story.until_gateways(0)

    story.gateways(2)
    pending = story.until_pending()
    assert "CellTemplate 'gate' has pending changes (generation 1 → 2)" in pending["message"]
    assert story.status()["availableTemplateRevision"] in pending["message"]

    story.cluster(MANUAL, cells=[{"zone": "z1"}, {"zone": "z2"}])
    story.until_gateways(0, 0)

    story.annotate(f"{APPLY_NOW}=true")
    story.until_gateways(2, 2)
    story.until_generation(2)
    eventually(lambda: APPLY_NOW not in story.annotations(), "the annotation to be taken away")
    eventually(lambda: story.condition()["status"] == "False", "nothing to be pending")

    [first, second] = story.revisions()
    assert [each["data"]["generation"] for each in (first, second)] == [1, 2]
    assert {owner["kind"] for owner in first["metadata"]["ownerReferences"]} == {"MultigresCluster"}

    story.annotate(f"{ROLL_BACK}={first['metadata']['name']}")
    story.until_gateways(0, 0)
    story.until_generation(1)
    eventually(lambda: ROLL_BACK not in story.annotations(), "the annotation to be taken away")
    assert [each["data"]["generation"] for each in story.revisions()] == [2, 1]
    assert story.until_pending()["reason"] == "TemplateRolledBack"


def test_an_accepted_revision_is_taken_and_a_window_shows_when_it_opens(story: Story) -> None:
    story.begin(FAR_AWAY)
    story.until_generation(1)
    story.gateways(3)
    assert story.until_pending()["reason"] == "WaitingForWindow"
    assert "-02-29T00:00:00Z" in story.status()["nextUpdateWindow"]

    accepted = {**MANUAL, "acceptedRevision": story.status()["availableTemplateRevision"]}
    story.cluster(accepted)
    story.until_gateways(3)
    story.gateways(4)
    story.until_pending()
    assert story.asked_gateways() == [3]


def test_under_auto_a_change_is_taken_and_a_bad_one_is_not(story: Story) -> None:
    story.begin({})
    story.until_generation(1)
    story.gateways(1)
    story.until_gateways(1)
    story.until_generation(2)
    limits = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    story.apply("CellTemplate", "gate", {"multiGateway": {"replicas": 5, "resources": limits}})
    refused = story.until_pending()
    assert refused["reason"] == "TemplateUpdateRefused"
    assert "generation 3" in refused["message"]
    assert story.asked_gateways() == [1]
    story.gateways(6)
    story.until_gateways(6)
    story.until_generation(4)

    story.kubectl("delete", "controllerrevisions", "-n", story.namespace, "-l", "multigres.com/template=gate")
    again = eventually(story.revisions, "the content in force to be written down again")
    assert [each["data"]["generation"] for each in again] == [4]


def test_templates_in_use_are_held_until_use_ends_however_it_ends(story: Story) -> None:
    story.gateways(0, "other")
    story.begin({})
    for kind, name in (("celltemplate", "gate"), ("shardtemplate", "std")):
        story.until_finalizers(kind, name, HELD)
    assert story.finalizers("celltemplate", "other") == []

    story.cluster({}, templateDefaults={"cellTemplate": "other", "shardTemplate": "std"})
    story.until_finalizers("celltemplate", "other", HELD)
    story.until_finalizers("celltemplate", "gate")
    assert story.revisions("gate"), "as long as the template is there, the cluster may turn back to it"
    story.kubectl("delete", "celltemplate", "gate", "-n", story.namespace)
    defaults = {"cellTemplate": "other", "shardTemplate": "std"}
    story.cluster({}, templateDefaults=defaults, logLevels={"multiadmin": "debug"})
    eventually(lambda: not story.revisions("gate"), "what was kept of a template that is gone to go, too")

    story.kubectl("delete", "celltemplate", "other", "-n", story.namespace, "--wait=false")
    assert story.found("celltemplate", "other")["metadata"]["deletionTimestamp"]
    story.kubectl("delete", "mgc", "demo", "-n", story.namespace, "--wait=false")
    stripped = '{"metadata":{"finalizers":null}}'
    # An operator that was faster leaves nothing to strip.
    story.kubectl.outcome("patch", "mgc", "demo", "-n", story.namespace, "--type=merge", "-p", stripped)
    eventually(lambda: story.found("celltemplate", "other") is None, "the template to be gone")
    story.until_finalizers("shardtemplate", "std")


def test_a_namespace_that_goes_takes_its_templates_with_it(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    going = f"{namespace}-going"
    kubectl("create", "namespace", going)
    story = Story(kubectl, going)
    with running_operator(control_plane, going, tmp_path / "operator.log"):
        story.begin({})
        story.until_finalizers("celltemplate", "gate", HELD)
        story.until_finalizers("shardtemplate", "std", HELD)
        kubectl("delete", "namespace", going, "--wait=false")
        eventually(lambda: not story.namespace_is_there(), "the namespace to be gone")
