from steward.kube.errors import FieldConflict
from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.tenants.labels import ORPHANED, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.orphans import Owner
from steward.tenants.objects.ownership import (
    PEACE_SECONDS,
    WHOLE,
    Contests,
    Taken,
    contest,
    contested_object,
    field_conflict,
    may_touch,
    object_conflict,
    strangers,
)

OWNER = Owner("acme", "saas", "uid-1")
REF = Ref(CONFIG_MAP, Key("saas", "config"))
TAKER = [("kubectl", ".spec.replicas")]


def meta(labels: dict[str, str] | None = None, *owners: OwnerReference) -> ObjectMeta:
    return ObjectMeta(name="config", namespace="saas", labels=labels or {}, owner_references=owners)


def test_ours_is_what_labels_owner_or_the_mark_of_an_orphan_say() -> None:
    ours = {TENANT: "acme", TENANT_NAMESPACE: "saas"}
    theirs = {TENANT: "other", TENANT_NAMESPACE: "saas"}
    assert may_touch(meta(ours), OWNER)
    assert may_touch(meta({}, OwnerReference(uid="uid-1")), OWNER)
    assert may_touch(meta({ORPHANED: "true"}), OWNER)
    assert not may_touch(meta(theirs), OWNER)
    assert not may_touch(meta({**theirs, ORPHANED: "true"}), OWNER)
    assert not may_touch(meta(), OWNER)


def test_a_conflict_says_with_whom_and_the_cure() -> None:
    tenant = object_conflict(REF, meta({TENANT: "other", TENANT_NAMESPACE: "else"}))
    assert tenant.startswith("Resource config exists with different owner: ConfigMap saas/config belongs to")
    assert "Tenant else/other" in tenant
    assert tenant.endswith("Check the namespace, review nameTemplate, or set conflictPolicy: Force")
    owned = object_conflict(REF, meta({}, OwnerReference(kind="Helm", name="x", controller=True)))
    assert "belongs to Helm x" in owned


def test_whom_nobody_beats_by_force_is_named() -> None:
    told = contested_object(REF, meta({TENANT: "other", TENANT_NAMESPACE: "else"}))
    assert "Tenant else/other takes ConfigMap saas/config again and again" in told
    assert told.endswith("leave conflictPolicy: Force to one of them")


def conflict(*managers: tuple[str, str]) -> FieldConflict:
    error = FieldConflict(409, "Conflict", "conflict")
    error.managers = managers
    return error


def test_our_own_former_selves_are_no_strangers() -> None:
    error = conflict(("tenant-operator", ".a"), ("tenant-operator-seed", ".b"), ("kubectl", ".c"))
    assert strangers(error) == (("kubectl", ".c"),)
    assert ".c belongs to kubectl" in field_conflict(REF, error)
    assert "ignoreFields" in field_conflict(REF, error)


def test_three_times_in_a_minute_is_a_contest() -> None:
    contests = Contests()
    assert [bool(contests.note(REF, TAKER, now)) for now in (0.0, 20.0, 40.0, 45.0)] == [
        False,
        False,
        True,
        True,
    ]
    told = contest(REF, contests.note(REF, TAKER, 50.0))
    assert "kubectl takes .spec.replicas again and again" in told
    assert "Force" not in told


def test_what_was_taken_three_times_in_a_minute_is_lost_for_a_while() -> None:
    contests = Contests()
    taken = Taken(REF, "Tenant saas/other", WHOLE)
    found = []
    for now in (0.0, 1.0, 2.0):
        found.append(contests.is_lost(taken, now))
        contests.note(REF, [(taken.manager, taken.field)], now)
    assert found == [False, False, False]
    assert contests.is_lost(taken, 3.0)
    assert not contests.is_lost(taken, PEACE_SECONDS + 3.0)


def test_slow_edits_different_fields_and_other_objects_are_no_contest() -> None:
    contests = Contests()
    assert not any(contests.note(REF, TAKER, now) for now in (0.0, 40.0, 80.0, 120.0))
    assert not any(contests.note(REF, [("kubectl", f".f{number}")], 120.0) for number in range(5))
    other = Ref(CONFIG_MAP, Key("saas", "other"))
    assert not contests.note(other, TAKER, 121.0)


def test_a_contest_that_rested_is_tried_again() -> None:
    contests = Contests()
    for now in (0.0, 1.0, 2.0):
        contests.note(REF, TAKER, now)
    assert contests.note(REF, TAKER, PEACE_SECONDS)
    assert not contests.note(REF, TAKER, PEACE_SECONDS + 3.0)
