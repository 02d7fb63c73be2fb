"""Previews as text."""

from typing import Any

import pytest

from steward.cli.preview.cluster import compare_objects
from steward.cli.preview.text import (
    PreviewEntry,
    entry_dict,
    has_changes,
    has_problems,
    preview_entries,
    render_entries,
    summarize,
)
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.runtime.plan.dry_run import DryRunOutcome, DryRunResult
from steward.runtime.plan.steps import Apply, Delete, Emit, Hold

TENANT = Kind("operator.kubernetes-tenants.org/v1", "Tenant")


def tenant(name: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": TENANT.api_version,
        "kind": "Tenant",
        "metadata": {"name": name, "namespace": "saas"},
        "spec": spec,
    }


def ref(name: str) -> Ref:
    return Ref(TENANT, Key("saas", name))


def created(name: str) -> DryRunResult:
    return DryRunResult(Apply(tenant(name)), DryRunOutcome.CREATE, None, tenant(name))


def changed(name: str) -> DryRunResult:
    return DryRunResult(
        Apply(tenant(name, size=2)), DryRunOutcome.CHANGE, tenant(name, size=1), tenant(name, size=2)
    )


DELETED = DryRunResult(Delete(ref("old"), "uid", "its row is gone"), DryRunOutcome.DELETE, tenant("old"))
HELD = DryRunResult(
    Hold(24, "EmptyResult", "24 Tenants are not deleted: the table has no rows"), DryRunOutcome.HELD
)
EMITTED = DryRunResult(Emit(ref("x"), "Reason", "news"), DryRunOutcome.EMITTED)
SAME = DryRunResult(Apply(tenant("same")), DryRunOutcome.UNCHANGED)
REFUSED = DryRunResult(Apply(tenant("bad")), DryRunOutcome.REJECTED, problem="spec.uid: too long")


def texts(*results: DryRunResult) -> list[str]:
    return [text for text, _ in render_entries(preview_entries(results))]


def test_creates_changes_and_deletions_each_with_their_count() -> None:
    assert texts(created("new"), changed("acme"), DELETED, EMITTED, SAME) == [
        "- Tenant saas/old: its row is gone",
        "~ Tenant saas/acme",
        "    @@ -5,3 +5,3 @@",
        "       namespace: saas",
        "     spec:",
        "    -  size: 1",
        "    +  size: 2",
        "+ Tenant saas/new",
        "Would delete 1 Tenant, change 1 Tenant, create 1 Tenant.",
    ]


def test_held_deletions_come_first_and_count_as_changes() -> None:
    found = preview_entries([created("new"), HELD])
    assert (
        next(text for text, _ in render_entries(found))
        == "! 24 Tenants are not deleted: the table has no rows"
    )
    assert summarize(found) == "Would create 1 Tenant. 24 deletions are held."
    assert has_changes(preview_entries([HELD]))


def test_steps_without_an_effect_are_not_shown() -> None:
    assert texts(SAME, EMITTED) == ["Nothing would change."]
    assert not has_changes(preview_entries([SAME, EMITTED]))


def test_an_unknown_effect_is_a_problem_unless_there_are_changes() -> None:
    unknown = PreviewEntry(DryRunOutcome.UNKNOWN, ref("a"), message="the server does not serve Tenant")
    assert has_problems([unknown])
    assert summarize([unknown]) == "Of 1 Tenant it cannot be known yet."
    with_change = [unknown, *preview_entries([created("new")])]
    assert not has_problems(with_change)
    assert summarize(with_change) == "Would create 1 Tenant. Of 1 Tenant it cannot be known yet."


def test_deferred_changes_are_shown_and_counted() -> None:
    waiting = PreviewEntry(DryRunOutcome.DEFERRED, ref("db"), message="will wait for approval: so and so")
    assert [text for text, _ in render_entries([*preview_entries([changed("acme")]), waiting])][-2:] == [
        "… Tenant saas/db: will wait for approval: so and so",
        "Would change 1 Tenant. 1 Tenant would wait.",
    ]
    assert entry_dict(waiting)["verdict"] == "waits"


def test_a_rejection_is_a_problem() -> None:
    found = preview_entries([REFUSED])
    assert texts(REFUSED) == ["✗ Tenant saas/bad: spec.uid: too long", "1 Tenant would be refused."]
    assert has_problems(found)
    assert entry_dict(found[0]) == {
        "verdict": "refused",
        "kind": "Tenant",
        "namespace": "saas",
        "name": "bad",
        "message": "spec.uid: too long",
    }


def test_of_many_equal_changes_only_a_few_are_listed() -> None:
    lines = texts(*(changed(f"t{number}") for number in range(5)))
    assert sum(line.startswith("~ Tenant") for line in lines) == 3
    assert lines[-2:] == ["~ and 2 Tenants more (-o wide shows all)", "Would change 5 Tenants."]


@pytest.mark.parametrize(
    ("now", "then", "outcome"),
    [
        ({}, {"a": 1}, DryRunOutcome.CREATE),
        ({"a": 1}, {}, DryRunOutcome.DELETE),
        ({"a": 1}, {"a": 2}, DryRunOutcome.CHANGE),
    ],
)
def test_two_trees_are_compared(now: dict[str, int], then: dict[str, int], outcome: DryRunOutcome) -> None:
    trees = [{ref(name): tenant(name, size=size) for name, size in tree.items()} for tree in (now, then)]
    [found] = compare_objects(*trees)
    assert (found.outcome, found.ref) == (outcome, ref("a"))


def test_equal_trees_have_no_differences() -> None:
    tree = {ref("a"): tenant("a", size=1)}
    assert compare_objects(tree, dict(tree)) == []


def test_an_unused_claim_is_not_shown_as_deleted() -> None:
    claim = Ref(Kind("v1", "PersistentVolumeClaim"), Key("shop", "data"))
    [found] = compare_objects({claim: {"kind": "PersistentVolumeClaim"}}, {})
    assert found == PreviewEntry(DryRunOutcome.UNKNOWN, claim, message=found.message)
    assert "pvcDeletionPolicy" in found.message
