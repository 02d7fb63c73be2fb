"""What was foreseen, as people read it."""

from typing import Any

import pytest

from steward.cli.preview.cluster import compared
from steward.cli.preview.text import (
    Outlook,
    difference,
    has_changes,
    has_problems,
    lines,
    outlook,
    plain,
    total,
)
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.runtime.plan.dry_run import Foreseen, Verdict
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


def created(name: str) -> Foreseen:
    return Foreseen(Apply(tenant(name)), Verdict.CREATE, None, tenant(name))


def changed(name: str) -> Foreseen:
    return Foreseen(Apply(tenant(name, size=2)), Verdict.CHANGE, tenant(name, size=1), tenant(name, size=2))


DELETED = Foreseen(Delete(ref("old"), "uid", "its row is gone"), Verdict.DELETE, tenant("old"))
HELD = Foreseen(Hold(24, "EmptyResult", "24 Tenants are not deleted: the table has no rows"), Verdict.HELD)
TOLD = Foreseen(Emit(ref("x"), "Reason", "news"), Verdict.TOLD)
SAME = Foreseen(Apply(tenant("same")), Verdict.NOTHING)
REFUSED = Foreseen(Apply(tenant("bad")), Verdict.REFUSED, problem="spec.uid: too long")


def texts(*foreseen: Foreseen) -> list[str]:
    return [text for text, _ in lines(outlook(foreseen))]


def test_creates_changes_and_deletions_each_with_their_count() -> None:
    assert texts(created("new"), changed("acme"), DELETED, TOLD, SAME) == [
        "- Tenant saas/old: its row is gone",
        "~ Tenant saas/acme",
        "    @@ -5,3 +5,3 @@",
        "       namespace: saas",
        "     spec:",
        "    -  size: 1",
        "    +  size: 2",
        "+ Tenant saas/new",
        "Would create 1 Tenant, change 1 Tenant, delete 1 Tenant.",
    ]


def test_what_is_held_comes_first_and_counts_as_a_change() -> None:
    found = outlook([created("new"), HELD])
    assert next(text for text, _ in lines(found)) == "!: 24 Tenants are not deleted: the table has no rows"
    assert total(found) == "Would create 1 Tenant. 1 deletion is held."
    assert has_changes(outlook([HELD]))


def test_nothing_is_nothing() -> None:
    assert texts(SAME, TOLD) == ["Nothing would change."]
    assert not has_changes(outlook([SAME, TOLD]))


def test_what_cannot_be_known_is_a_problem_unless_it_waits_for_a_change() -> None:
    unknown = Outlook(Verdict.UNKNOWN, ref("a"), told="the server does not serve Tenant")
    assert has_problems([unknown])
    assert total([unknown]) == "Of 1 Tenant it cannot be known yet."
    with_change = [unknown, *outlook([created("new")])]
    assert not has_problems(with_change)
    assert total(with_change) == "Would create 1 Tenant. Of 1 Tenant it cannot be known yet."


def test_what_waits_is_told_and_counted() -> None:
    waiting = Outlook(Verdict.WAITS, ref("db"), told="will wait for approval: so and so")
    assert [text for text, _ in lines([*outlook([changed("acme")]), waiting])][-2:] == [
        "… Tenant saas/db: will wait for approval: so and so",
        "Would change 1 Tenant. 1 Tenant would wait.",
    ]
    assert plain(waiting)["verdict"] == "waits"


def test_a_refusal_is_a_problem() -> None:
    found = outlook([REFUSED])
    assert texts(REFUSED) == ["✗ Tenant saas/bad: spec.uid: too long", "1 Tenant would be refused."]
    assert has_problems(found)
    assert plain(found[0]) == {
        "verdict": "refused",
        "kind": "Tenant",
        "namespace": "saas",
        "name": "bad",
        "told": "spec.uid: too long",
    }


def test_a_fleet_that_changes_alike_is_told_by_a_few_of_it() -> None:
    told = texts(*(changed(f"t{number}") for number in range(5)))
    assert sum(line.startswith("~ Tenant") for line in told) == 3
    assert told[-2:] == ["~ and 2 more Tenant (-o wide shows all)", "Would change 5 Tenant."]


def test_what_a_secret_holds_is_never_shown() -> None:
    def secret(**data: str) -> Manifest:
        return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data}

    told = "\n".join(difference(secret(a="b2xk", b="a2VwdA=="), secret(a="bmV3", b="a2VwdA==")))
    assert "+  a: (another value)" in told
    assert not any(value in told for value in ("b2xk", "bmV3", "a2VwdA=="))


@pytest.mark.parametrize(
    ("now", "then", "verdict"),
    [({}, {"a": 1}, Verdict.CREATE), ({"a": 1}, {}, Verdict.DELETE), ({"a": 1}, {"a": 2}, Verdict.CHANGE)],
)
def test_two_trees_are_compared(now: dict[str, int], then: dict[str, int], verdict: Verdict) -> None:
    trees = [{ref(name): tenant(name, size=size) for name, size in tree.items()} for tree in (now, then)]
    [found] = compared(*trees)
    assert (found.verdict, found.ref) == (verdict, ref("a"))


def test_equal_trees_have_nothing_to_tell() -> None:
    tree = {ref("a"): tenant("a", size=1)}
    assert compared(tree, dict(tree)) == []


def test_a_claim_that_nobody_uses_is_not_said_to_go() -> None:
    claim = Ref(Kind("v1", "PersistentVolumeClaim"), Key("shop", "data"))
    [found] = compared({claim: {"kind": "PersistentVolumeClaim"}}, {})
    assert found == Outlook(Verdict.UNKNOWN, claim, told=found.told)
    assert "pvcDeletionPolicy" in found.told
