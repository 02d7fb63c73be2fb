"""Decisions about template changes, as a pure function of contents, policy and time."""

import datetime
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from steward.multigres import reasons
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import Owner
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.candidate import used_templates
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK, UpdateDecision, decide_update
from steward.multigres.template_updates.revisions import (
    KEPT_PER_TEMPLATE,
    TemplateContent,
    revision_manifest,
)
from tests.multigres.support.update_inputs import (
    CELL,
    CLUSTER,
    MANUAL,
    MONDAY,
    NEW,
    OLD,
    SHARD,
    SUNDAY,
    SUNDAYS,
    cell_content,
    manual,
    shard_content,
    stored_revisions,
    update_inputs,
)


def cpu(decision: UpdateDecision, pool: str = "main") -> Any:
    [shard] = decision.candidate.resolved.shards()
    resources = shard.pools[pool].postgres
    assert resources is not msgspec.UNSET
    return or_default(resources.requests, {})["cpu"]


def new_generations(decision: UpdateDecision) -> list[tuple[str, int]]:
    return [(str(record.template), record.content.generation) for record in decision.records]


def test_the_first_content_becomes_active_and_is_recorded_under_every_policy() -> None:
    for inputs in (update_inputs(live={SHARD: OLD}), manual(live={SHARD: OLD}, reported_generations=None)):
        decision = decide_update(inputs)
        assert new_generations(decision) == [("ShardTemplate/std", 3)]
        assert decision.applied_generations == {"ShardTemplate/std": 3}
        assert not decision.notice.is_available


def test_auto_activates_a_newer_content_at_once() -> None:
    decision = decide_update(update_inputs(live={SHARD: NEW}, revisions=stored_revisions(OLD)))
    assert new_generations(decision) == [("ShardTemplate/std", 5)]
    assert cpu(decision) == "500m"
    assert [event.reason for event in decision.events] == [reasons.UPDATE_APPLIED]


def test_manual_keeps_the_active_content_and_reports_the_pending_one() -> None:
    decision = decide_update(manual(live={SHARD: NEW}, revisions=stored_revisions(OLD)))
    assert new_generations(decision) == []
    assert cpu(decision) == "100m"
    assert decision.applied_generations == {"ShardTemplate/std": 3}
    notice = decision.notice
    assert notice.is_available
    assert notice.reason == reasons.WAITING_FOR_APPROVAL
    assert "ShardTemplate 'std' has pending changes (generation 3 → 5)" in notice.message
    assert "restarts pool main of shard postgres/default/0-inf" in notice.message
    assert decision.available_revision in notice.message
    assert APPLY_NOW in notice.message


def test_an_edit_of_the_cluster_is_resolved_on_the_active_content() -> None:
    spec = {"updatePolicy": MANUAL, "cells": [{"zone": "z1"}, {"zone": "z2"}]}
    decision = decide_update(update_inputs(spec=spec, live={SHARD: NEW}, revisions=stored_revisions(OLD)))
    assert [cell.name for cell in decision.candidate.resolved.cells] == ["z1", "z2"]
    assert cpu(decision) == "100m"


def test_referencing_another_template_activates_its_content_at_once() -> None:
    other = TemplateKey("ShardTemplate", "other")
    spec = {"updatePolicy": MANUAL, "templateDefaults": {"shardTemplate": "other"}}
    live = {other: TemplateContent("uid-9", 7, {"pools": {"main": {"postgres": {"requests": {"cpu": "9"}}}}})}
    decision = decide_update(
        update_inputs(
            spec=spec,
            live=live,
            revisions=stored_revisions(OLD),
            reported_generations={"ShardTemplate/std": 3},
        )
    )
    assert new_generations(decision) == [("ShardTemplate/other", 7)]
    assert cpu(decision) == "9"
    assert [revision.template for revision in decision.to_prune] == [SHARD]


REPORTED_OTHER = {"ShardTemplate/other": 1}
"""Reported generations while the cluster used another template."""


def test_revisions_of_an_unused_template_are_kept_as_long_as_it_exists() -> None:
    spec = {"updatePolicy": MANUAL, "templateDefaults": {"shardTemplate": "other"}}
    other = TemplateKey("ShardTemplate", "other")
    live = {other: TemplateContent("uid-9", 1, {}), SHARD: NEW}
    revisions = (*stored_revisions(OLD), *stored_revisions(live[other], template=other))
    decision = decide_update(
        update_inputs(spec=spec, live=live, revisions=revisions, reported_generations=REPORTED_OTHER)
    )
    assert (decision.to_prune, decision.notice.is_available) == ((), False)
    recreated = {**live, SHARD: NEW._replace(uid="uid-8")}
    decision = decide_update(
        update_inputs(spec=spec, live=recreated, revisions=revisions, reported_generations=REPORTED_OTHER)
    )
    assert [revision.template for revision in decision.to_prune] == [SHARD]


def test_a_template_that_the_cluster_uses_again_has_its_last_active_content() -> None:
    decision = decide_update(
        manual(live={SHARD: NEW}, revisions=stored_revisions(OLD), reported_generations=REPORTED_OTHER)
    )
    assert cpu(decision) == "100m"
    assert decision.applied_generations == {"ShardTemplate/std": 3}
    assert "generation 3 → 5" in decision.notice.message
    assert (
        cpu(
            decide_update(
                update_inputs(
                    live={SHARD: NEW}, revisions=stored_revisions(OLD), reported_generations=REPORTED_OTHER
                )
            )
        )
        == "500m"
    )


def test_a_template_that_the_cluster_uses_again_stays_rolled_back() -> None:
    revisions = (*stored_revisions(OLD, NEW), stored_revisions(OLD, NEW, OLD)[2])
    decision = decide_update(
        update_inputs(live={SHARD: NEW}, revisions=revisions, reported_generations=REPORTED_OTHER)
    )
    assert cpu(decision) == "100m"
    assert decision.notice.reason == reasons.ROLLED_BACK


@pytest.mark.parametrize("live", [{SHARD: NEW._replace(uid="uid-8")}, {}], ids=["recreated", "deleted"])
def test_revisions_of_a_deleted_template_are_not_used_for_a_new_one_of_the_same_name(live: Any) -> None:
    decision = decide_update(
        manual(live=live, revisions=stored_revisions(OLD), reported_generations=REPORTED_OTHER)
    )
    if live:
        assert cpu(decision) == "500m"
    else:
        assert decision.candidate.problems


def test_a_template_that_the_cluster_uses_again_without_revisions_is_active_as_it_is() -> None:
    decision = decide_update(manual(live={SHARD: NEW}, revisions=(), reported_generations=REPORTED_OTHER))
    assert cpu(decision) == "500m"


def test_a_cluster_cannot_roll_back_a_template_that_it_does_not_use() -> None:
    spec = {"templateDefaults": {"shardTemplate": "other"}}
    other = TemplateKey("ShardTemplate", "other")
    live = {other: TemplateContent("uid-9", 1, {}), SHARD: NEW}
    revisions = stored_revisions(OLD, NEW)
    requested = {ROLL_BACK: revisions[0].name}
    inputs = update_inputs(
        spec=spec, live=live, revisions=revisions, reported_generations=REPORTED_OTHER, annotations=requested
    )
    assert [event.reason for event in decide_update(inputs).events] == [reasons.NO_SUCH_REVISION]


def test_the_annotation_activates_pending_contents_and_is_then_removed() -> None:
    decision = decide_update(
        manual(live={SHARD: NEW}, revisions=stored_revisions(OLD), annotations={APPLY_NOW: "true"})
    )
    assert new_generations(decision) == [("ShardTemplate/std", 5)]
    assert decision.consumed_annotations == (APPLY_NOW,)
    assert not decision.notice.is_available


def test_the_annotation_is_removed_also_when_nothing_is_pending() -> None:
    """Otherwise it would activate the next change."""
    decision = decide_update(
        manual(live={SHARD: OLD}, revisions=stored_revisions(OLD), annotations={APPLY_NOW: "true"})
    )
    assert new_generations(decision) == []
    assert decision.consumed_annotations == (APPLY_NOW,)


@pytest.mark.parametrize("value", ["false", "yes", ""])
def test_another_value_of_the_annotation_requests_nothing(value: str) -> None:
    decision = decide_update(
        manual(live={SHARD: NEW}, revisions=stored_revisions(OLD), annotations={APPLY_NOW: value})
    )
    assert new_generations(decision) == []
    assert decision.consumed_annotations == ()


def test_an_accepted_revision_becomes_active_and_the_next_change_is_pending_again() -> None:
    waiting = decide_update(manual(live={SHARD: NEW}, revisions=stored_revisions(OLD))).available_revision
    accepted = {"acceptedRevision": waiting}
    assert new_generations(
        decide_update(manual(policy=accepted, live={SHARD: NEW}, revisions=stored_revisions(OLD)))
    ) == [("ShardTemplate/std", 5)]
    later = decide_update(
        manual(policy=accepted, live={SHARD: shard_content(6, "900m")}, revisions=stored_revisions(OLD, NEW))
    )
    assert new_generations(later) == []
    assert later.available_revision not in ("", waiting)


def test_clusters_with_the_same_pending_content_show_the_same_revision() -> None:
    first = decide_update(manual(live={SHARD: NEW}, revisions=stored_revisions(OLD))).available_revision
    elsewhere = TemplateContent("another-uid", 9, NEW.spec)
    reported_generations = {"ShardTemplate/std": 3}
    assert (
        decide_update(
            manual(
                live={SHARD: elsewhere},
                revisions=stored_revisions(OLD),
                reported_generations=reported_generations,
            )
        ).available_revision
        == first
    )


@pytest.mark.parametrize(("now", "expected"), [(SUNDAY, [("ShardTemplate/std", 5)]), (MONDAY, [])])
def test_a_window_lets_changes_in_only_while_it_is_open(
    now: datetime.datetime, expected: list[tuple[str, int]]
) -> None:
    decision = decide_update(
        update_inputs(
            spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=stored_revisions(OLD), now=now
        )
    )
    assert new_generations(decision) == expected


def test_outside_the_window_the_next_one_is_reported() -> None:
    decision = decide_update(
        update_inputs(
            spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=stored_revisions(OLD), now=MONDAY
        )
    )
    assert decision.notice.reason == reasons.WAITING_FOR_WINDOW
    assert decision.next_window == datetime.datetime(2026, 1, 11, 2, 0, tzinfo=datetime.UTC)
    assert "2026-01-11T02:00:00Z" in decision.notice.message


def test_a_window_that_was_missed_is_not_replayed() -> None:
    after = SUNDAY + datetime.timedelta(hours=1)
    decision = decide_update(
        update_inputs(
            spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=stored_revisions(OLD), now=after
        )
    )
    assert new_generations(decision) == []


def test_the_annotation_works_outside_a_window_too() -> None:
    decision = decide_update(
        update_inputs(
            spec={"updatePolicy": SUNDAYS},
            live={SHARD: NEW},
            revisions=stored_revisions(OLD),
            annotations={APPLY_NOW: "true"},
        )
    )
    assert new_generations(decision) == [("ShardTemplate/std", 5)]


BROKEN = {
    "a limit below its request": {"postgres": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
    "a smaller volume": {"storage": {"size": "500Mi"}},
    "a value of the wrong type": {"postgres": "much"},
}


@pytest.mark.parametrize("pool", BROKEN.values(), ids=BROKEN)
def test_a_change_that_makes_the_cluster_invalid_is_rejected_and_the_active_content_stays(pool: Any) -> None:
    bad = TemplateContent("uid-1", 6, {"pools": {"main": {"storage": {"size": "1Gi"}, **pool}}})
    decision = decide_update(update_inputs(live={SHARD: bad}, revisions=stored_revisions(OLD)))
    assert new_generations(decision) == []
    assert decision.candidate.problems == []
    assert cpu(decision) == "100m"
    assert decision.notice.reason == reasons.UPDATE_REFUSED
    assert "generation 6" in decision.notice.message


def test_an_invalid_change_does_not_block_a_valid_one() -> None:
    bad = shard_content(6, storage={"size": "1Mi"})
    spec = {"templateDefaults": {"shardTemplate": "std", "cellTemplate": "gate"}}
    decision = decide_update(
        update_inputs(
            spec=spec,
            live={SHARD: bad, CELL: cell_content(2, replicas=3)},
            revisions=(*stored_revisions(OLD), *stored_revisions(cell_content(1), template=CELL)),
        )
    )
    assert new_generations(decision) == [("CellTemplate/gate", 2)]
    assert decision.notice.reason == reasons.UPDATE_REFUSED


def test_an_invalid_first_content_is_a_problem_of_the_spec() -> None:
    decision = decide_update(update_inputs(live={SHARD: shard_content(1, postgres={"requests": 3})}))
    assert decision.records == ()
    [problem] = decision.candidate.problems
    assert problem.field == "spec.templateDefaults.shardTemplate"
    assert "cannot be read" in problem.message


def test_a_new_generation_with_an_equal_content_becomes_active_without_an_event() -> None:
    decision = decide_update(
        manual(live={SHARD: OLD._replace(generation=9)}, revisions=stored_revisions(OLD))
    )
    assert decision.applied_generations == {"ShardTemplate/std": 9}
    assert decision.events == ()
    assert not decision.notice.is_available


def test_a_default_template_that_is_created_later_is_pending() -> None:
    implied = TemplateKey("CellTemplate", "default")
    live = {SHARD: OLD, implied: cell_content(1, replicas=7)}
    waiting = decide_update(manual(live=live, revisions=stored_revisions(OLD)))
    assert waiting.notice.is_available
    assert "CellTemplate 'default' is new" in waiting.notice.message
    assert waiting.candidate.resolved.cells[0].gateway.replicas == 1
    assert (
        decide_update(update_inputs(live=live, revisions=stored_revisions(OLD)))
        .candidate.resolved.cells[0]
        .gateway.replicas
        == 7
    )


def test_the_content_of_a_deleted_template_stays_active() -> None:
    decision = decide_update(
        update_inputs(live={}, revisions=stored_revisions(OLD), reported_generations={"ShardTemplate/std": 3})
    )
    assert cpu(decision) == "100m"
    assert decision.candidate.problems == []


def test_a_terminating_template_is_rejected_as_a_new_reference() -> None:
    decision = decide_update(update_inputs(terminating=frozenset({SHARD})))
    [problem] = decision.candidate.problems
    assert "is being deleted" in problem.message


def test_a_terminating_template_stays_active_where_it_is_used() -> None:
    reported_generations = {"ShardTemplate/std": 3}
    decision = decide_update(
        update_inputs(
            terminating=frozenset({SHARD}),
            revisions=stored_revisions(OLD),
            reported_generations=reported_generations,
        )
    )
    assert cpu(decision) == "100m"


def test_a_rollback_activates_an_earlier_content_under_a_new_number() -> None:
    revisions = stored_revisions(OLD, NEW)
    decision = decide_update(
        update_inputs(live={SHARD: NEW}, revisions=revisions, annotations={ROLL_BACK: revisions[0].name})
    )
    [record] = decision.records
    assert (record.content.generation, record.number) == (3, 3)
    assert cpu(decision) == "100m"
    assert decision.consumed_annotations == (ROLL_BACK,)
    assert [event.reason for event in decision.events] == [reasons.ROLLED_BACK]


@pytest.mark.parametrize("policy", [{}, MANUAL, SUNDAYS], ids=["Auto", "Manual", "Window"])
def test_a_content_that_was_rolled_back_is_pending_until_it_is_requested_or_changes(
    policy: dict[str, Any],
) -> None:
    forward = stored_revisions(OLD, NEW)
    back = (forward[0]._replace(number=3), forward[1])
    inputs = update_inputs(spec={"updatePolicy": policy}, live={SHARD: NEW}, revisions=back, now=SUNDAY)
    assert decide_update(inputs).notice.reason == reasons.ROLLED_BACK
    assert new_generations(decide_update(inputs)) == []
    assert new_generations(decide_update(inputs._replace(annotations={APPLY_NOW: "true"}))) == [
        ("ShardTemplate/std", 5)
    ]
    changed = decide_update(inputs._replace(live={SHARD: shard_content(6, "600m")}))
    assert bool(changed.records) == (policy != MANUAL)


def test_an_accepted_revision_does_not_undo_a_rollback() -> None:
    forward = stored_revisions(OLD, NEW)
    back = (forward[0]._replace(number=3), forward[1])
    waiting = decide_update(manual(live={SHARD: NEW}, revisions=back)).available_revision
    assert (
        new_generations(
            decide_update(manual(policy={"acceptedRevision": waiting}, live={SHARD: NEW}, revisions=back))
        )
        == []
    )


def test_a_rollback_to_an_unknown_revision_is_reported_and_changes_nothing() -> None:
    decision = decide_update(
        update_inputs(live={SHARD: OLD}, revisions=stored_revisions(OLD), annotations={ROLL_BACK: "gone"})
    )
    assert decision.records == ()
    [event] = decision.events
    assert event.reason == reasons.NO_SUCH_REVISION
    assert stored_revisions(OLD)[0].name in event.message


def test_a_rollback_to_a_smaller_volume_is_rejected() -> None:
    revisions = stored_revisions(OLD, shard_content(5, storage={"size": "9Gi"}))
    live = revisions[1].content
    decision = decide_update(
        update_inputs(live={SHARD: live}, revisions=revisions, annotations={ROLL_BACK: revisions[0].name})
    )
    assert decision.records == ()
    assert decision.consumed_annotations == (ROLL_BACK,)
    [event] = decision.events
    assert event.reason == reasons.UPDATE_REFUSED
    assert "cannot shrink" in event.message


def test_the_notice_reports_that_a_pending_content_is_invalid() -> None:
    smaller = shard_content(5, storage={"size": "1Mi"})
    notice = decide_update(manual(live={SHARD: smaller}, revisions=stored_revisions(OLD))).notice
    assert notice.reason == reasons.WAITING_FOR_APPROVAL
    assert "it cannot be used as it is: " in notice.message
    assert "cannot shrink" in notice.message


def test_the_last_ten_are_kept() -> None:
    contents = [shard_content(number, f"{number}m") for number in range(1, KEPT_PER_TEMPLATE + 4)]
    decision = decide_update(
        update_inputs(live={SHARD: shard_content(99, "99m")}, revisions=stored_revisions(*contents))
    )
    assert new_generations(decision) == [("ShardTemplate/std", 99)]
    assert sorted(revision.content.generation for revision in decision.to_prune) == [1, 2, 3, 4]


def test_neither_the_active_nor_the_live_content_is_pruned() -> None:
    contents = [shard_content(number, f"{number}m") for number in range(1, KEPT_PER_TEMPLATE + 4)]
    live = contents[0]
    decision = decide_update(manual(live={SHARD: live}, revisions=stored_revisions(*contents)))
    assert sorted(revision.content.generation for revision in decision.to_prune) == [2, 3]


def test_a_lost_content_under_manual_changes_nothing_until_the_user_decides() -> None:
    inputs = manual(live={SHARD: NEW}, revisions=(), reported_generations={"ShardTemplate/std": 3})
    decision = decide_update(inputs)
    assert decision.lost == (SHARD,)
    assert decision.records == ()
    assert decide_update(inputs._replace(annotations={APPLY_NOW: "true"})).lost == ()
    assert decide_update(inputs._replace(live={SHARD: OLD})).lost == ()


def test_the_manifest_of_a_revision_contains_the_content() -> None:
    decision = decide_update(update_inputs(live={SHARD: OLD}))
    manifest = revision_manifest(Owner("MultigresCluster", "ns", CLUSTER, "u"), decision.records[0])
    assert manifest["data"]["spec"] == OLD.spec
    assert manifest["revision"] == 1
    assert manifest["metadata"]["name"].startswith("demo-shardtemplate-std-3-")


IMPACTS: list[tuple[dict[str, Any], str]] = [
    ({"replicasPerCell": 5}, "restarts nothing"),
    ({"storage": {"size": "2Gi"}}, "restarts nothing"),
    ({"multipooler": {"requests": {"cpu": "1"}}}, "restarts pool main of shard postgres/default/0-inf. To"),
    (
        {"replicasPerCell": 0},
        "restarts nothing; stops 3 of 3 servers of pool main of shard postgres/default/0-inf, all servers of shard "
        "postgres/default/0-inf, so that nothing serves its data. To apply",
    ),
    ({"storage": {"size": "1Mi"}}, "cannot shrink"),
]


@pytest.mark.parametrize(("pool", "expected"), IMPACTS)
def test_the_notice_names_components_that_would_restart(pool: dict[str, Any], expected: str) -> None:
    decision = decide_update(manual(live={SHARD: shard_content(5, **pool)}, revisions=stored_revisions(OLD)))
    assert expected in decision.notice.message


@pytest.mark.parametrize("policy", [MANUAL, SUNDAYS], ids=["manual", "window"])
def test_a_notice_of_an_unusable_change_says_no_command_that_applies_it(policy: dict[str, Any]) -> None:
    smaller = shard_content(5, storage={"size": "1Mi"})
    inputs = update_inputs(
        spec={"updatePolicy": policy}, live={SHARD: smaller}, revisions=stored_revisions(OLD)
    )
    message = decide_update(inputs).notice.message
    assert message.endswith(". Correct the template")
    assert "kubectl" not in message


def test_templates_in_use_are_listed_by_kind() -> None:
    found: Iterable[TemplateKey] = used_templates(
        decide_update(update_inputs(live={SHARD: OLD})).candidate.resolved
    )
    assert list(found) == [SHARD]
