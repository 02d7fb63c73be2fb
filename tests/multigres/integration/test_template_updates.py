"""Template updates with the operator as a process on a real control plane."""

from pathlib import Path

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from tests.multigres.support.operator import running_operator
from tests.multigres.support.template_update_scenario import TemplateUpdateScenario, eventually
from tests.support.kubectl import Kubectl

MANUAL = {"templateChanges": "Manual"}
HELD = "multigres.com/in-use-by-demo"
FAR_AWAY = {"templateChanges": "Window", "window": {"cron": "0 0 29 2 *", "duration": "1m"}}


@pytest.fixture
def story(operator: object, kubectl: Kubectl, namespace: str) -> TemplateUpdateScenario:
    return TemplateUpdateScenario(kubectl, namespace)


def test_with_manual_updates_a_change_waits_for_the_annotation_and_can_be_rolled_back(
    story: TemplateUpdateScenario,
) -> None:
    story.create(MANUAL)
    story.wait_for_generation(1)
    story.wait_for_gateways(0)

    story.set_gateways(2)
    pending = story.wait_for_pending()
    assert "CellTemplate 'gate' has pending changes (generation 1 → 2)" in pending["message"]
    assert story.status()["availableTemplateRevision"] in pending["message"]

    story.cluster(MANUAL, cells=[{"zone": "z1"}, {"zone": "z2"}])
    story.wait_for_gateways(0, 0)

    story.annotate(f"{APPLY_NOW}=true")
    story.wait_for_gateways(2, 2)
    story.wait_for_generation(2)
    eventually(lambda: APPLY_NOW not in story.annotations(), "the annotation to be taken away")
    eventually(lambda: story.condition()["status"] == "False", "nothing to be pending")

    [first, second] = story.revisions()
    assert [each["data"]["generation"] for each in (first, second)] == [1, 2]
    assert {owner["kind"] for owner in first["metadata"]["ownerReferences"]} == {"MultigresCluster"}

    story.annotate(f"{ROLL_BACK}={first['metadata']['name']}")
    story.wait_for_gateways(0, 0)
    story.wait_for_generation(1)
    eventually(lambda: ROLL_BACK not in story.annotations(), "the annotation to be taken away")
    assert [each["data"]["generation"] for each in story.revisions()] == [2, 1]
    assert story.wait_for_pending()["reason"] == "TemplateRolledBack"


def test_an_accepted_revision_is_applied_and_a_window_shows_when_it_opens(
    story: TemplateUpdateScenario,
) -> None:
    story.create(FAR_AWAY)
    story.wait_for_generation(1)
    story.set_gateways(3)
    assert story.wait_for_pending()["reason"] == "WaitingForWindow"
    assert "-02-29T00:00:00Z" in story.status()["nextUpdateWindow"]

    accepted = {**MANUAL, "acceptedRevision": story.status()["availableTemplateRevision"]}
    story.cluster(accepted)
    story.wait_for_gateways(3)
    story.set_gateways(4)
    story.wait_for_pending()
    assert story.gateway_replicas() == [3]


def test_with_automatic_updates_a_change_is_applied_and_an_invalid_one_is_not(
    story: TemplateUpdateScenario,
) -> None:
    story.create({})
    story.wait_for_generation(1)
    story.set_gateways(1)
    story.wait_for_gateways(1)
    story.wait_for_generation(2)
    limits = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    story.apply("CellTemplate", "gate", {"multiGateway": {"replicas": 5, "resources": limits}})
    refused = story.wait_for_pending()
    assert refused["reason"] == "TemplateUpdateRefused"
    assert "generation 3" in refused["message"]
    assert story.gateway_replicas() == [1]
    story.set_gateways(6)
    story.wait_for_gateways(6)
    story.wait_for_generation(4)

    story.kubectl("delete", "controllerrevisions", "-n", story.namespace, "-l", "multigres.com/template=gate")
    again = eventually(story.revisions, "the content in force to be written down again")
    assert [each["data"]["generation"] for each in again] == [4]


def test_templates_keep_their_finalizer_until_no_cluster_uses_them(story: TemplateUpdateScenario) -> None:
    story.set_gateways(0, "other")
    story.create({})
    for kind, name in (("celltemplate", "gate"), ("shardtemplate", "std")):
        story.wait_for_finalizers(kind, name, HELD)
    assert story.finalizers("celltemplate", "other") == []

    story.cluster({}, templateDefaults={"cellTemplate": "other", "shardTemplate": "std"})
    story.wait_for_finalizers("celltemplate", "other", HELD)
    story.wait_for_finalizers("celltemplate", "gate")
    assert story.revisions("gate"), "as long as the template is there, the cluster may turn back to it"
    story.kubectl("delete", "celltemplate", "gate", "-n", story.namespace)
    defaults = {"cellTemplate": "other", "shardTemplate": "std"}
    story.cluster({}, templateDefaults=defaults, logLevels={"multiadmin": "debug"})
    eventually(lambda: not story.revisions("gate"), "the revisions of a deleted template to be pruned")

    story.kubectl("delete", "celltemplate", "other", "-n", story.namespace, "--wait=false")
    assert story.get_object("celltemplate", "other")["metadata"]["deletionTimestamp"]
    story.kubectl("delete", "mgc", "demo", "-n", story.namespace, "--wait=false")
    stripped = '{"metadata":{"finalizers":null}}'
    # The operator may have removed the finalizers already.
    story.kubectl.run("patch", "mgc", "demo", "-n", story.namespace, "--type=merge", "-p", stripped)
    eventually(lambda: story.get_object("celltemplate", "other") is None, "the template to be gone")
    story.wait_for_finalizers("shardtemplate", "std")


def test_a_terminating_namespace_deletes_its_templates(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    going = f"{namespace}-going"
    kubectl("create", "namespace", going)
    story = TemplateUpdateScenario(kubectl, going)
    with running_operator(control_plane, going, tmp_path / "operator.log"):
        story.create({})
        story.wait_for_finalizers("celltemplate", "gate", HELD)
        story.wait_for_finalizers("shardtemplate", "std", HELD)
        kubectl("delete", "namespace", going, "--wait=false")
        eventually(lambda: not story.namespace_exists(), "the namespace to be gone")
