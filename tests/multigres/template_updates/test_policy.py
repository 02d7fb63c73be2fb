"""When a change of a template reaches a cluster, decided without a server: contents and a clock in, a decision out."""

import datetime
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.metadata import Owner
from steward.multigres.resolution.layers import given
from steward.multigres.resolution.resolved import Identity
from steward.multigres.template_updates.candidate import Situation, used_templates
from steward.multigres.template_updates.notices import APPLY_NOW
from steward.multigres.template_updates.policy import ROLL_BACK, Decision, decide
from steward.multigres.template_updates.revisions import (
    KEPT,
    Content,
    Revision,
    TemplateKey,
    revision_manifest,
    revision_name,
)

SUNDAY = datetime.datetime(2026, 1, 4, 2, 30, tzinfo=datetime.UTC)
MONDAY = datetime.datetime(2026, 1, 5, 12, 0, tzinfo=datetime.UTC)
SHARD = TemplateKey("ShardTemplate", "std")
CELL = TemplateKey("CellTemplate", "gate")
CLUSTER = "demo"
MANUAL = {"templateChanges": "Manual"}
SUNDAYS = {"templateChanges": "Window", "window": {"cron": "0 2 * * SUN", "duration": "1h"}}


def shard_content(generation: int, cpu: str = "100m", **pool: Any) -> Content:
    spec = {"pools": {"main": {"postgres": {"requests": {"cpu": cpu}}, "storage": {"size": "1Gi"}, **pool}}}
    return Content("uid-1", generation, spec)


def cell_content(generation: int, replicas: int = 1) -> Content:
    return Content("uid-2", generation, {"multiGateway": {"replicas": replicas}})


def kept(*contents: Content, template: TemplateKey = SHARD) -> tuple[Revision, ...]:
    """Revisions in the order in which they came into force."""
    return tuple(
        Revision(revision_name(CLUSTER, template, content), f"r{number}", number, template, content)
        for number, content in enumerate(contents, start=1)
    )


def situation(**changes: Any) -> Situation:
    spec = {
        "cells": [{"zone": "z1"}],
        "templateDefaults": {"shardTemplate": "std"},
        **changes.pop("spec", {}),
    }
    start = Situation(
        identity=Identity("ns", CLUSTER),
        spec=msgspec.convert(spec, MultigresClusterSpec),
        live={},
        leaving=frozenset(),
        revisions=(),
        reported={},
        annotations={},
        now=MONDAY,
    )
    return start._replace(**changes)


def manual(**changes: Any) -> Situation:
    return situation(spec={"updatePolicy": {**MANUAL, **changes.pop("policy", {})}}, **changes)


def cpu(decision: Decision, pool: str = "main") -> Any:
    [shard] = decision.attempt.resolved.shards()
    resources = shard.pools[pool].postgres
    assert resources is not msgspec.UNSET
    return given(resources.requests, {})["cpu"]


def taken(decision: Decision) -> list[tuple[str, int]]:
    return [(str(record.template), record.content.generation) for record in decision.records]


OLD, NEW = shard_content(3), shard_content(5, "500m")


def test_the_first_content_is_taken_and_written_down_under_every_policy() -> None:
    for at in (situation(live={SHARD: OLD}), manual(live={SHARD: OLD}, reported=None)):
        decision = decide(at)
        assert taken(decision) == [("ShardTemplate/std", 3)]
        assert decision.applied == {"ShardTemplate/std": 3}
        assert not decision.notice.is_available


def test_auto_takes_a_newer_content_at_once() -> None:
    decision = decide(situation(live={SHARD: NEW}, revisions=kept(OLD)))
    assert taken(decision) == [("ShardTemplate/std", 5)]
    assert cpu(decision) == "500m"
    assert [news.reason for news in decision.news] == [reasons.UPDATE_APPLIED]


def test_manual_keeps_the_old_content_and_says_what_waits() -> None:
    decision = decide(manual(live={SHARD: NEW}, revisions=kept(OLD)))
    assert taken(decision) == []
    assert cpu(decision) == "100m"
    assert decision.applied == {"ShardTemplate/std": 3}
    notice = decision.notice
    assert notice.is_available
    assert notice.reason == reasons.WAITING_FOR_APPROVAL
    assert "ShardTemplate 'std' has pending changes (generation 3 → 5)" in notice.message
    assert "restarts pool main of shard postgres/default/0-inf" in notice.message
    assert decision.available in notice.message
    assert APPLY_NOW in notice.message


def test_an_edit_of_the_cluster_takes_effect_on_the_old_content() -> None:
    spec = {"updatePolicy": MANUAL, "cells": [{"zone": "z1"}, {"zone": "z2"}]}
    decision = decide(situation(spec=spec, live={SHARD: NEW}, revisions=kept(OLD)))
    assert [cell.name for cell in decision.attempt.resolved.cells] == ["z1", "z2"]
    assert cpu(decision) == "100m"


def test_choosing_another_template_takes_its_content_at_once() -> None:
    other = TemplateKey("ShardTemplate", "other")
    spec = {"updatePolicy": MANUAL, "templateDefaults": {"shardTemplate": "other"}}
    live = {other: Content("uid-9", 7, {"pools": {"main": {"postgres": {"requests": {"cpu": "9"}}}}})}
    decision = decide(situation(spec=spec, live=live, revisions=kept(OLD), reported={"ShardTemplate/std": 3}))
    assert taken(decision) == [("ShardTemplate/other", 7)]
    assert cpu(decision) == "9"
    assert [known.template for known in decision.surplus] == [SHARD]


LEFT = {"ShardTemplate/other": 1}
"""What was reported while the cluster used another template."""


def test_the_contents_of_a_template_that_is_left_are_kept_as_long_as_it_is_there() -> None:
    spec = {"updatePolicy": MANUAL, "templateDefaults": {"shardTemplate": "other"}}
    other = TemplateKey("ShardTemplate", "other")
    live = {other: Content("uid-9", 1, {}), SHARD: NEW}
    revisions = (*kept(OLD), *kept(live[other], template=other))
    decision = decide(situation(spec=spec, live=live, revisions=revisions, reported=LEFT))
    assert (decision.surplus, decision.notice.is_available) == ((), False)
    made_anew = {**live, SHARD: NEW._replace(uid="uid-8")}
    decision = decide(situation(spec=spec, live=made_anew, revisions=revisions, reported=LEFT))
    assert [known.template for known in decision.surplus] == [SHARD]


def test_a_template_that_the_cluster_turns_back_to_is_as_it_was_when_it_left() -> None:
    decision = decide(manual(live={SHARD: NEW}, revisions=kept(OLD), reported=LEFT))
    assert cpu(decision) == "100m"
    assert decision.applied == {"ShardTemplate/std": 3}
    assert "generation 3 → 5" in decision.notice.message
    assert cpu(decide(situation(live={SHARD: NEW}, revisions=kept(OLD), reported=LEFT))) == "500m"


def test_turning_back_to_a_template_keeps_in_mind_that_the_cluster_went_back_in_it() -> None:
    revisions = (*kept(OLD, NEW), kept(OLD, NEW, OLD)[2])
    decision = decide(situation(live={SHARD: NEW}, revisions=revisions, reported=LEFT))
    assert cpu(decision) == "100m"
    assert decision.notice.reason == reasons.ROLLED_BACK


@pytest.mark.parametrize("live", [{SHARD: NEW._replace(uid="uid-8")}, {}], ids=["made anew", "gone"])
def test_what_a_template_said_that_is_gone_does_not_come_back_with_its_name(live: Any) -> None:
    decision = decide(manual(live=live, revisions=kept(OLD), reported=LEFT))
    if live:
        assert cpu(decision) == "500m"
    else:
        assert decision.attempt.problems


def test_a_template_chosen_again_of_which_nothing_is_kept_is_taken_as_it_is_now() -> None:
    decision = decide(manual(live={SHARD: NEW}, revisions=(), reported=LEFT))
    assert cpu(decision) == "500m"


def test_a_cluster_cannot_go_back_in_a_template_that_it_does_not_use() -> None:
    spec = {"templateDefaults": {"shardTemplate": "other"}}
    other = TemplateKey("ShardTemplate", "other")
    live = {other: Content("uid-9", 1, {}), SHARD: NEW}
    revisions = kept(OLD, NEW)
    asked = {ROLL_BACK: revisions[0].name}
    at = situation(spec=spec, live=live, revisions=revisions, reported=LEFT, annotations=asked)
    assert [news.reason for news in decide(at).news] == [reasons.NO_SUCH_REVISION]


def test_the_annotation_takes_what_waits_and_is_then_taken_away() -> None:
    decision = decide(manual(live={SHARD: NEW}, revisions=kept(OLD), annotations={APPLY_NOW: "true"}))
    assert taken(decision) == [("ShardTemplate/std", 5)]
    assert decision.consumed == (APPLY_NOW,)
    assert not decision.notice.is_available


def test_the_annotation_is_taken_away_also_when_nothing_waits() -> None:
    """Left there, it would let the next change in."""
    decision = decide(manual(live={SHARD: OLD}, revisions=kept(OLD), annotations={APPLY_NOW: "true"}))
    assert taken(decision) == []
    assert decision.consumed == (APPLY_NOW,)


@pytest.mark.parametrize("value", ["false", "yes", ""])
def test_another_value_of_the_annotation_asks_for_nothing(value: str) -> None:
    decision = decide(manual(live={SHARD: NEW}, revisions=kept(OLD), annotations={APPLY_NOW: value}))
    assert taken(decision) == []
    assert decision.consumed == ()


def test_an_accepted_revision_is_taken_and_the_next_change_waits_again() -> None:
    waiting = decide(manual(live={SHARD: NEW}, revisions=kept(OLD))).available
    accepted = {"acceptedRevision": waiting}
    assert taken(decide(manual(policy=accepted, live={SHARD: NEW}, revisions=kept(OLD)))) == [
        ("ShardTemplate/std", 5)
    ]
    later = decide(manual(policy=accepted, live={SHARD: shard_content(6, "900m")}, revisions=kept(OLD, NEW)))
    assert taken(later) == []
    assert later.available not in ("", waiting)


def test_clusters_that_wait_for_the_same_content_show_the_same_revision() -> None:
    first = decide(manual(live={SHARD: NEW}, revisions=kept(OLD))).available
    elsewhere = Content("another-uid", 9, NEW.spec)
    reported = {"ShardTemplate/std": 3}
    assert decide(manual(live={SHARD: elsewhere}, revisions=kept(OLD), reported=reported)).available == first


@pytest.mark.parametrize(("now", "expected"), [(SUNDAY, [("ShardTemplate/std", 5)]), (MONDAY, [])])
def test_a_window_lets_changes_in_only_while_it_is_open(
    now: datetime.datetime, expected: list[tuple[str, int]]
) -> None:
    decision = decide(
        situation(spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=kept(OLD), now=now)
    )
    assert taken(decision) == expected


def test_outside_the_window_the_next_one_is_told() -> None:
    decision = decide(
        situation(spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=kept(OLD), now=MONDAY)
    )
    assert decision.notice.reason == reasons.WAITING_FOR_WINDOW
    assert decision.next_window == datetime.datetime(2026, 1, 11, 2, 0, tzinfo=datetime.UTC)
    assert "2026-01-11T02:00:00Z" in decision.notice.message


def test_a_window_that_was_missed_is_not_replayed() -> None:
    after = SUNDAY + datetime.timedelta(hours=1)
    decision = decide(
        situation(spec={"updatePolicy": SUNDAYS}, live={SHARD: NEW}, revisions=kept(OLD), now=after)
    )
    assert taken(decision) == []


def test_the_annotation_works_outside_a_window_too() -> None:
    decision = decide(
        situation(
            spec={"updatePolicy": SUNDAYS},
            live={SHARD: NEW},
            revisions=kept(OLD),
            annotations={APPLY_NOW: "true"},
        )
    )
    assert taken(decision) == [("ShardTemplate/std", 5)]


BROKEN = {
    "a limit below its request": {"postgres": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
    "a smaller volume": {"storage": {"size": "500Mi"}},
    "what cannot be read": {"postgres": "much"},
}


@pytest.mark.parametrize("pool", BROKEN.values(), ids=BROKEN)
def test_a_change_that_would_break_the_cluster_is_refused_and_the_last_good_content_stays(pool: Any) -> None:
    bad = Content("uid-1", 6, {"pools": {"main": {"storage": {"size": "1Gi"}, **pool}}})
    decision = decide(situation(live={SHARD: bad}, revisions=kept(OLD)))
    assert taken(decision) == []
    assert decision.attempt.problems == []
    assert cpu(decision) == "100m"
    assert decision.notice.reason == reasons.UPDATE_REFUSED
    assert "generation 6" in decision.notice.message


def test_a_bad_change_does_not_hold_up_a_good_one() -> None:
    bad = shard_content(6, storage={"size": "1Mi"})
    spec = {"templateDefaults": {"shardTemplate": "std", "cellTemplate": "gate"}}
    decision = decide(
        situation(
            spec=spec,
            live={SHARD: bad, CELL: cell_content(2, replicas=3)},
            revisions=(*kept(OLD), *kept(cell_content(1), template=CELL)),
        )
    )
    assert taken(decision) == [("CellTemplate/gate", 2)]
    assert decision.notice.reason == reasons.UPDATE_REFUSED


def test_a_first_content_that_breaks_the_cluster_is_told_of_the_spec() -> None:
    decision = decide(situation(live={SHARD: shard_content(1, postgres={"requests": 3})}))
    assert decision.records == ()
    [problem] = decision.attempt.problems
    assert problem.field == "spec.templateDefaults.shardTemplate"
    assert "cannot be read" in problem.message


def test_a_new_generation_that_says_the_same_is_taken_silently() -> None:
    decision = decide(manual(live={SHARD: OLD._replace(generation=9)}, revisions=kept(OLD)))
    assert decision.applied == {"ShardTemplate/std": 9}
    assert decision.news == ()
    assert not decision.notice.is_available


def test_a_default_template_that_appears_does_not_slip_into_a_settled_cluster() -> None:
    implied = TemplateKey("CellTemplate", "default")
    live = {SHARD: OLD, implied: cell_content(1, replicas=7)}
    waiting = decide(manual(live=live, revisions=kept(OLD)))
    assert waiting.notice.is_available
    assert "CellTemplate 'default' has appeared" in waiting.notice.message
    assert waiting.attempt.resolved.cells[0].gateway.replicas == 1
    assert decide(situation(live=live, revisions=kept(OLD))).attempt.resolved.cells[0].gateway.replicas == 7


def test_a_template_that_is_gone_stays_in_force() -> None:
    decision = decide(situation(live={}, revisions=kept(OLD), reported={"ShardTemplate/std": 3}))
    assert cpu(decision) == "100m"
    assert decision.attempt.problems == []


def test_a_template_that_is_being_deleted_is_refused_as_a_new_reference() -> None:
    decision = decide(situation(leaving=frozenset({SHARD})))
    [problem] = decision.attempt.problems
    assert "is being deleted" in problem.message


def test_a_template_that_is_being_deleted_serves_those_who_use_it() -> None:
    reported = {"ShardTemplate/std": 3}
    decision = decide(situation(leaving=frozenset({SHARD}), revisions=kept(OLD), reported=reported))
    assert cpu(decision) == "100m"


def test_going_back_puts_an_earlier_content_in_force_under_a_new_number() -> None:
    revisions = kept(OLD, NEW)
    decision = decide(
        situation(live={SHARD: NEW}, revisions=revisions, annotations={ROLL_BACK: revisions[0].name})
    )
    [record] = decision.records
    assert (record.content.generation, record.number) == (3, 3)
    assert cpu(decision) == "100m"
    assert decision.consumed == (ROLL_BACK,)
    assert [news.reason for news in decision.news] == [reasons.ROLLED_BACK]


@pytest.mark.parametrize("policy", [{}, MANUAL, SUNDAYS], ids=["Auto", "Manual", "Window"])
def test_what_the_cluster_went_back_from_waits_until_it_is_asked_for_or_changes(
    policy: dict[str, Any],
) -> None:
    forward = kept(OLD, NEW)
    back = (forward[0]._replace(number=3), forward[1])
    at = situation(spec={"updatePolicy": policy}, live={SHARD: NEW}, revisions=back, now=SUNDAY)
    assert decide(at).notice.reason == reasons.ROLLED_BACK
    assert taken(decide(at)) == []
    assert taken(decide(at._replace(annotations={APPLY_NOW: "true"}))) == [("ShardTemplate/std", 5)]
    changed = decide(at._replace(live={SHARD: shard_content(6, "600m")}))
    assert bool(changed.records) == (policy != MANUAL)


def test_an_accepted_revision_does_not_undo_a_roll_back() -> None:
    forward = kept(OLD, NEW)
    back = (forward[0]._replace(number=3), forward[1])
    waiting = decide(manual(live={SHARD: NEW}, revisions=back)).available
    assert (
        taken(decide(manual(policy={"acceptedRevision": waiting}, live={SHARD: NEW}, revisions=back))) == []
    )


def test_going_back_to_what_is_not_kept_is_told_and_changes_nothing() -> None:
    decision = decide(situation(live={SHARD: OLD}, revisions=kept(OLD), annotations={ROLL_BACK: "gone"}))
    assert decision.records == ()
    [news] = decision.news
    assert news.reason == reasons.NO_SUCH_REVISION
    assert kept(OLD)[0].name in news.message


def test_going_back_to_a_smaller_volume_is_refused() -> None:
    revisions = kept(OLD, shard_content(5, storage={"size": "9Gi"}))
    live = revisions[1].content
    decision = decide(
        situation(live={SHARD: live}, revisions=revisions, annotations={ROLL_BACK: revisions[0].name})
    )
    assert decision.records == ()
    assert decision.consumed == (ROLL_BACK,)
    [news] = decision.news
    assert news.reason == reasons.UPDATE_REFUSED
    assert "cannot shrink" in news.message


def test_of_what_waits_it_is_told_beforehand_that_it_could_not_be_taken() -> None:
    smaller = shard_content(5, storage={"size": "1Mi"})
    notice = decide(manual(live={SHARD: smaller}, revisions=kept(OLD))).notice
    assert notice.reason == reasons.WAITING_FOR_APPROVAL
    assert "it cannot be used as it is: " in notice.message
    assert "cannot shrink" in notice.message


def test_the_last_ten_are_kept() -> None:
    contents = [shard_content(number, f"{number}m") for number in range(1, KEPT + 4)]
    decision = decide(situation(live={SHARD: shard_content(99, "99m")}, revisions=kept(*contents)))
    assert taken(decision) == [("ShardTemplate/std", 99)]
    assert sorted(known.content.generation for known in decision.surplus) == [1, 2, 3, 4]


def test_neither_what_is_in_force_nor_what_the_template_holds_is_ever_pruned() -> None:
    contents = [shard_content(number, f"{number}m") for number in range(1, KEPT + 4)]
    live = contents[0]
    decision = decide(manual(live={SHARD: live}, revisions=kept(*contents)))
    assert sorted(known.content.generation for known in decision.surplus) == [2, 3]


def test_a_lost_content_under_manual_stops_everything_until_somebody_decides() -> None:
    at = manual(live={SHARD: NEW}, revisions=(), reported={"ShardTemplate/std": 3})
    decision = decide(at)
    assert decision.lost == (SHARD,)
    assert decision.records == ()
    assert decide(at._replace(annotations={APPLY_NOW: "true"})).lost == ()
    assert decide(at._replace(live={SHARD: OLD})).lost == ()


def test_what_a_revision_holds_is_read_from_its_manifest() -> None:
    decision = decide(situation(live={SHARD: OLD}))
    manifest = revision_manifest(Owner("MultigresCluster", "ns", CLUSTER, "u"), decision.records[0])
    assert manifest["data"]["spec"] == OLD.spec
    assert manifest["revision"] == 1
    assert manifest["metadata"]["name"].startswith("demo-shardtemplate-std-3-")


IMPACTS: list[tuple[dict[str, Any], str]] = [
    ({"replicasPerCell": 5}, "restarts nothing"),
    ({"storage": {"size": "2Gi"}}, "restarts nothing"),
    ({"multipooler": {"requests": {"cpu": "1"}}}, "restarts pool main of shard postgres/default/0-inf"),
]


@pytest.mark.parametrize(("pool", "told"), IMPACTS)
def test_the_summary_says_what_would_restart(pool: dict[str, Any], told: str) -> None:
    decision = decide(manual(live={SHARD: shard_content(5, **pool)}, revisions=kept(OLD)))
    assert told in decision.notice.message


def test_templates_in_use_are_listed_by_kind() -> None:
    found: Iterable[TemplateKey] = used_templates(decide(situation(live={SHARD: OLD})).attempt.resolved)
    assert list(found) == [SHARD]
