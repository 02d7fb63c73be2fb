"""How a cluster stands towards its templates, from what was read of it."""

from typing import Any

from click.testing import CliRunner

from steward.cli.main import steward
from steward.cli.template_updates import Beside, plain, standing
from steward.multigres.template_updates.revisions import Content, Revision, TemplateKey

GATE = TemplateKey("CellTemplate", "gate")
OLD, NEW = (Content("t", n, {"multiGateway": {"replicas": n}}) for n in (1, 2))
KEPT = Revision("db-celltemplate-gate-1-0a", "r", 1, GATE, OLD)


def cluster(**condition: str) -> dict[str, Any]:
    told = {"type": "TemplateUpdateAvailable", **condition}
    return {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "db", "namespace": "shop", "uid": "c", "resourceVersion": "7"},
        "status": {"conditions": [told], "availableTemplateRevision": "4b1d"},
    }


def test_what_waits_is_told_with_its_difference_and_its_past() -> None:
    beside = Beside({"shop": {GATE: NEW}}, {"c": [KEPT]})
    found = standing(cluster(status="True", reason="WaitingForApproval", message="do it"), beside)
    assert found.version == "7"
    told = plain(found)
    assert (told["isWaiting"], told["reason"], told["message"]) == (True, "WaitingForApproval", "do it")
    assert told["availableTemplateRevision"] == "4b1d"
    [change] = told["changes"]
    assert (change["template"], change["from"], change["to"]) == ("CellTemplate/gate", 1, 2)
    assert "+multiGateway.replicas: 2" in change["diff"]
    assert told["kept"] == [
        {
            "name": "db-celltemplate-gate-1-0a",
            "template": "CellTemplate/gate",
            "generation": 1,
            "number": 1,
            "isInForce": True,
        }
    ]


def test_templates_of_another_namespace_and_revisions_of_another_cluster_do_not_count() -> None:
    beside = Beside({"elsewhere": {GATE: NEW}}, {"another": [KEPT]})
    found = standing(cluster(status="False", reason="UpToDate"), beside)
    assert (found.is_waiting, found.changes, found.revisions) == (False, (), ())


def test_the_contents_of_a_template_that_the_cluster_has_left_neither_wait_nor_are_in_force() -> None:
    left = cluster(status="False", reason="UpToDate")
    left["status"]["appliedTemplateGenerations"] = {"CellTemplate/other": 1}
    found = standing(left, Beside({"shop": {GATE: NEW}}, {"c": [KEPT]}))
    assert (found.changes, found.revisions) == ((), ())


def test_a_cluster_without_a_status_waits_for_nothing() -> None:
    assert not standing({**cluster(), "status": {}}, Beside({}, {})).is_waiting


def test_every_part_of_the_verb_shows_examples_and_exit_codes() -> None:
    for words in ([], ["show"], ["history"], ["apply"], ["rollback"]):
        told = CliRunner().invoke(steward, ["updates", *words, "--help"]).output
        assert "steward updates apply db -n shop" in told
        assert "Exit codes:" in told
