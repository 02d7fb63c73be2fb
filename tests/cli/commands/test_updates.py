"""Template state of a cluster, from its status, templates and revisions."""

from typing import Any

from click.testing import CliRunner

from steward.cli.main import steward
from steward.cli.template_updates import TemplateContents, template_state, template_state_dict
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision

GATE = TemplateKey("CellTemplate", "gate")
OLD, NEW = (TemplateContent("t", n, {"multiGateway": {"replicas": n}}) for n in (1, 2))
KEPT = TemplateRevision("db-celltemplate-gate-1-0a", "r", 1, GATE, OLD)


def cluster(**condition: str) -> dict[str, Any]:
    available = {"type": "TemplateUpdateAvailable", **condition}
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "db", "namespace": "shop", "uid": "c", "resourceVersion": "7"},
        "status": {"conditions": [available], "availableTemplateRevision": "4b1d"},
    }


def test_pending_changes_are_shown_with_their_diff_and_history() -> None:
    contents = TemplateContents({"shop": {GATE: NEW}}, {"c": [KEPT]})
    found = template_state(cluster(status="True", reason="WaitingForApproval", message="do it"), contents)
    assert found.version == "7"
    output = template_state_dict(found)
    assert (output["isWaiting"], output["reason"], output["message"]) == (True, "WaitingForApproval", "do it")
    assert output["availableTemplateRevision"] == "4b1d"
    [change] = output["changes"]
    assert (change["template"], change["from"], change["to"]) == ("CellTemplate/gate", 1, 2)
    assert "+multiGateway.replicas: 2" in change["diff"]
    assert output["kept"] == [
        {
            "name": "db-celltemplate-gate-1-0a",
            "template": "CellTemplate/gate",
            "generation": 1,
            "number": 1,
            "isInForce": True,
        }
    ]


def test_templates_of_another_namespace_and_revisions_of_another_cluster_do_not_count() -> None:
    contents = TemplateContents({"elsewhere": {GATE: NEW}}, {"another": [KEPT]})
    found = template_state(cluster(status="False", reason="UpToDate"), contents)
    assert (found.is_waiting, found.changes, found.revisions) == (False, (), ())


def test_revisions_of_a_template_that_is_no_longer_used_are_neither_pending_nor_active() -> None:
    unused = cluster(status="False", reason="UpToDate")
    unused["status"]["appliedTemplateGenerations"] = {"CellTemplate/other": 1}
    found = template_state(unused, TemplateContents({"shop": {GATE: NEW}}, {"c": [KEPT]}))
    assert (found.changes, found.revisions) == ((), ())


def test_a_cluster_without_a_status_has_no_pending_update() -> None:
    assert not template_state({**cluster(), "status": {}}, TemplateContents({}, {})).is_waiting


def test_every_part_of_the_verb_shows_examples_and_exit_codes() -> None:
    for words in ([], ["show"], ["history"], ["apply"], ["rollback"]):
        text = CliRunner().invoke(steward, ["updates", *words, "--help"]).output
        assert "steward updates apply db -n shop" in text
        assert "Exit codes:" in text


def operator_update(reason: str) -> dict[str, Any]:
    found = cluster(status="False", reason="UpToDate", message="every template is active")
    condition = {"type": "OperatorUpdateAvailable", "status": "True", "reason": reason, "message": "pods"}
    found["status"]["conditions"].append(condition)
    return found


def test_a_change_by_a_new_operator_waits_like_a_template_change_and_shows_its_message() -> None:
    found = template_state(operator_update("WaitingForApproval"), TemplateContents({}, {}))
    assert found.is_waiting
    assert found.message == "pods"
    assert template_state_dict(found)["operatorUpdate"] == {"reason": "WaitingForApproval", "message": "pods"}


def test_a_change_by_a_new_operator_that_is_in_progress_does_not_wait_but_is_shown() -> None:
    found = template_state(operator_update("OperatorUpdateInProgress"), TemplateContents({}, {}))
    assert not found.is_waiting
    assert found.message == "pods"
