"""Requests to apply or roll back a template change."""

import pytest

from steward.cli.update_requests import UpdateRequest, is_handled, request_refusal
from steward.kube.objects.kinds import Key, Kind, Ref
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK
from tests.multigres.support.update_inputs import (
    NEW,
    OLD,
    SHARD,
    manual,
    shard_content,
    stored_revisions,
)

CLUSTER = Ref(Kind("multigres.com/v1alpha1", "MultigresCluster"), Key("ns", "demo"))
SMALL, LARGE = shard_content(3, storage={"size": "1Gi"}), shard_content(5, storage={"size": "2Gi"})
GROWN = stored_revisions(SMALL, LARGE)
APPLY = UpdateRequest(CLUSTER, APPLY_NOW, "true")


def roll_back(revision: str) -> UpdateRequest:
    return UpdateRequest(CLUSTER, ROLL_BACK, revision)


def test_a_usable_change_is_not_refused() -> None:
    assert request_refusal(manual(live={SHARD: NEW}, revisions=stored_revisions(OLD)), APPLY) == ""


def test_an_unusable_change_is_refused_before_it_is_sent() -> None:
    refusal = request_refusal(manual(live={SHARD: SMALL._replace(generation=7)}, revisions=GROWN), APPLY)
    assert "cannot shrink from 2Gi to 1Gi" in refusal


def test_a_rollback_that_would_shrink_a_volume_is_refused() -> None:
    refusal = request_refusal(manual(live={SHARD: LARGE}, revisions=GROWN), roll_back(GROWN[0].name))
    assert refusal.startswith(f"ShardTemplate 'std' cannot be rolled back to {GROWN[0].name}: ")
    assert "cannot shrink" in refusal


def test_a_rollback_to_a_known_revision_is_not_refused() -> None:
    revisions = stored_revisions(OLD, NEW)
    assert request_refusal(manual(live={SHARD: NEW}, revisions=revisions), roll_back(revisions[0].name)) == ""


def test_a_rollback_to_an_unknown_revision_is_refused() -> None:
    assert "does not exist" in request_refusal(manual(live={SHARD: OLD}, revisions=GROWN), roll_back("x"))


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [(None, True), ({}, True), ({APPLY_NOW: "true"}, False), ({ROLL_BACK: "x"}, True)],
)
def test_a_request_is_handled_once_its_annotation_is_gone(
    annotations: dict[str, str] | None, expected: bool
) -> None:
    assert is_handled({"metadata": {"annotations": annotations}}, APPLY) is expected
