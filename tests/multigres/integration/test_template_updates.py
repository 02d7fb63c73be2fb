"""Template updates with the operator as a process on a real control plane.

One operator serves all tests, each of which has a namespace of its own.
"""

from collections.abc import Iterator

import click
import pytest

from steward.cli.commands.updates import rollback
from steward.cli.name_completion import complete_revisions
from steward.local.control_plane import ControlPlane
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from tests.multigres.support.served_namespaces import served_namespaces
from tests.multigres.support.template_update_scenario import TemplateUpdateScenario, eventually
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

NAMESPACES = 4

MANUAL = {"templateChanges": "Manual"}
HELD = "multigres.com/in-use-by-demo"
FAR_AWAY = {"templateChanges": "Window", "window": {"cron": "0 0 29 2 *", "duration": "1m"}}


def completed_revisions(control_plane: ControlPlane, scenario: TemplateUpdateScenario) -> list[str]:
    """What a shell completes after `steward updates rollback demo`."""
    context = click.Context(rollback, info_name="rollback")
    kubeconfig = str(control_plane.kubeconfig)
    context.params = {"kubeconfig": kubeconfig, "namespace": scenario.namespace, "cluster": "demo"}
    return complete_revisions(context, rollback.params[0], "")


@pytest.fixture(scope="module")
def served(
    control_plane: ControlPlane,
    api_server: ApiServer,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with served_namespaces(control_plane, api_server, NAMESPACES, log) as found:
        yield found


@pytest.fixture
def scenario(served: list[str], kubectl: Kubectl) -> TemplateUpdateScenario:
    return TemplateUpdateScenario(kubectl, served.pop())


def test_with_manual_updates_a_change_waits_for_the_annotation_and_can_be_rolled_back(
    control_plane: ControlPlane, scenario: TemplateUpdateScenario
) -> None:
    scenario.create(MANUAL)
    scenario.wait_for_generation(1)
    scenario.wait_for_gateways(0)

    scenario.set_gateways(2)
    pending = scenario.wait_for_pending()
    assert "CellTemplate 'gate' has pending changes (generation 1 → 2)" in pending["message"]
    assert scenario.status()["availableTemplateRevision"] in pending["message"]

    scenario.cluster(MANUAL, cells=[{"zone": "z1"}, {"zone": "z2"}])
    scenario.wait_for_gateways(0, 0)

    scenario.annotate(f"{APPLY_NOW}=true")
    scenario.wait_for_gateways(2, 2)
    scenario.wait_for_generation(2)
    eventually(lambda: APPLY_NOW not in scenario.annotations(), "the annotation to be taken away")
    eventually(lambda: scenario.condition()["status"] == "False", "nothing to be pending")

    [first, second] = scenario.revisions()
    assert [each["data"]["generation"] for each in (first, second)] == [1, 2]
    assert {owner["kind"] for owner in first["metadata"]["ownerReferences"]} == {"MultigresCluster"}
    names = sorted(each["metadata"]["name"] for each in (first, second))
    assert [each for each in completed_revisions(control_plane, scenario) if "-gate-" in each] == names

    scenario.annotate(f"{ROLL_BACK}={first['metadata']['name']}")
    scenario.wait_for_gateways(0, 0)
    scenario.wait_for_generation(1)
    eventually(lambda: ROLL_BACK not in scenario.annotations(), "the annotation to be taken away")
    assert [each["data"]["generation"] for each in scenario.revisions()] == [2, 1]
    assert scenario.wait_for_pending()["reason"] == "TemplateRolledBack"


def test_an_accepted_revision_is_applied_and_a_window_shows_when_it_opens(
    scenario: TemplateUpdateScenario,
) -> None:
    scenario.create(FAR_AWAY)
    scenario.wait_for_generation(1)
    scenario.set_gateways(3)
    assert scenario.wait_for_pending()["reason"] == "WaitingForWindow"
    assert "-02-29T00:00:00Z" in scenario.status()["nextUpdateWindow"]

    accepted = {**MANUAL, "acceptedRevision": scenario.status()["availableTemplateRevision"]}
    scenario.cluster(accepted)
    scenario.wait_for_gateways(3)
    scenario.set_gateways(4)
    scenario.wait_for_pending()
    assert scenario.gateway_replicas() == [3]


def test_with_automatic_updates_a_change_is_applied_and_an_invalid_one_is_not(
    scenario: TemplateUpdateScenario,
) -> None:
    scenario.create({})
    scenario.wait_for_generation(1)
    scenario.set_gateways(1)
    scenario.wait_for_gateways(1)
    scenario.wait_for_generation(2)
    limits = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
    scenario.apply("CellTemplate", "gate", {"multiGateway": {"replicas": 5, "resources": limits}})
    refused = scenario.wait_for_pending()
    assert refused["reason"] == "TemplateUpdateRefused"
    assert "generation 3" in refused["message"]
    assert scenario.gateway_replicas() == [1]
    scenario.set_gateways(6)
    scenario.wait_for_gateways(6)
    scenario.wait_for_generation(4)

    scenario.kubectl(
        "delete", "controllerrevisions", "-n", scenario.namespace, "-l", "multigres.com/template=gate"
    )
    again = eventually(scenario.revisions, "the active content to be recorded again")
    assert [each["data"]["generation"] for each in again] == [4]


def test_templates_keep_their_finalizer_until_no_cluster_uses_them(scenario: TemplateUpdateScenario) -> None:
    scenario.set_gateways(0, "other")
    scenario.create({})
    for kind, name in (("celltemplate", "gate"), ("shardtemplate", "std")):
        scenario.wait_for_finalizers(kind, name, HELD)
    assert scenario.finalizers("celltemplate", "other") == []

    scenario.cluster({}, templateDefaults={"cellTemplate": "other", "shardTemplate": "std"})
    scenario.wait_for_finalizers("celltemplate", "other", HELD)
    scenario.wait_for_finalizers("celltemplate", "gate")
    assert scenario.revisions("gate"), "as long as the template is there, the cluster may turn back to it"
    scenario.kubectl("delete", "celltemplate", "gate", "-n", scenario.namespace)
    defaults = {"cellTemplate": "other", "shardTemplate": "std"}
    scenario.cluster({}, templateDefaults=defaults, logLevels={"multiadmin": "debug"})
    eventually(lambda: not scenario.revisions("gate"), "the revisions of a deleted template to be pruned")

    scenario.kubectl("delete", "celltemplate", "other", "-n", scenario.namespace, "--wait=false")
    assert scenario.get_object("celltemplate", "other")["metadata"]["deletionTimestamp"]
    scenario.kubectl("delete", "mgc", "demo", "-n", scenario.namespace, "--wait=false")
    stripped = '{"metadata":{"finalizers":null}}'
    # The operator may have removed the finalizers already.
    scenario.kubectl.run("patch", "mgc", "demo", "-n", scenario.namespace, "--type=merge", "-p", stripped)
    eventually(lambda: scenario.get_object("celltemplate", "other") is None, "the template to be gone")
    scenario.wait_for_finalizers("shardtemplate", "std")
