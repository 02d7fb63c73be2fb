import pytest

from steward.kube.objects.kinds import CONFIG_MAP, Key, Ref
from steward.runtime.plan.executor import StepEffect
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.controllers.tenant.state import (
    ApplyRecord,
    NamespaceDependents,
    TenantState,
    TenantStates,
    updated_record,
)

RECORD = AppliedObject(api_version="v1", kind="ConfigMap", namespace="saas", name="config", id="config")
REF = Ref(CONFIG_MAP, Key("shop", "config"))
EARLIER, NOW = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def done(*, changed: bool, uid: str = "u") -> ApplyRecord:
    return ApplyRecord(uid, changed, 4, NOW)


def previous_record(uid: str = "u") -> AppliedObject:
    return updated_record(RECORD, None, ApplyRecord(uid, changed=True, generation=3, now=EARLIER))


def test_changed_at_moves_only_with_a_change() -> None:
    assert updated_record(RECORD, previous_record(), done(changed=False)).changed_at == EARLIER
    assert updated_record(RECORD, previous_record(), done(changed=True)).changed_at == NOW


def test_an_object_without_a_record_counts_from_now() -> None:
    assert updated_record(RECORD, None, done(changed=False)).changed_at == NOW
    assert updated_record(RECORD, RECORD, done(changed=False)).changed_at == NOW


def test_an_object_with_another_uid_counts_from_now() -> None:
    assert updated_record(RECORD, previous_record("other"), done(changed=False)).changed_at == NOW


def test_a_record_has_the_uid_and_the_applied_generation() -> None:
    found = updated_record(RECORD, previous_record(), done(changed=False))
    assert (found.uid, found.generation) == ("u", 4)


def test_a_later_tenant_of_the_same_name_has_a_new_state() -> None:
    states = TenantStates()
    states.get(Key("saas", "acme"), "1").add_records([RECORD])
    assert states.get(Key("saas", "acme"), "1").records
    assert not states.get(Key("saas", "acme"), "2").records


def test_a_state_knows_whether_the_status_had_records_at_first() -> None:
    new, restarted = (
        TenantStates().get(Key("saas", "acme"), "1"),
        TenantStates().get(Key("saas", "acme"), "1"),
    )
    new.add_records([])
    new.add_records([RECORD])
    restarted.add_records([RECORD])
    assert (new.had_records, restarted.had_records) == (False, True)


def test_tenants_depend_on_the_namespaces_of_their_last_reconcile() -> None:
    dependents, acme, bolt = NamespaceDependents(), Key("saas", "acme"), Key("saas", "bolt")
    dependents.set(acme, frozenset({"a", "b"}))
    dependents.set(bolt, frozenset({"b"}))
    assert (dependents.tenants_in("a"), set(dependents.tenants_in("b"))) == ((acme,), {acme, bolt})
    dependents.set(acme, frozenset({"c"}))
    assert (dependents.tenants_in("a"), dependents.tenants_in("b"), dependents.tenants_in("c")) == (
        (),
        (bolt,),
        (acme,),
    )
    dependents.set(acme, frozenset())
    dependents.set(bolt, frozenset())
    assert vars(NamespaceDependents()) == vars(dependents)


@pytest.mark.parametrize(
    ("settled", "effect", "is_restored"),
    [
        (3, StepEffect.CHANGED, True),
        (3, StepEffect.CREATED, True),
        (3, StepEffect.UNCHANGED, False),
        (2, StepEffect.CHANGED, False),
        (0, StepEffect.CHANGED, False),
    ],
)
def test_a_write_puts_back_only_what_this_process_saw_ready_in_this_generation(
    settled: int, effect: StepEffect, is_restored: bool
) -> None:
    state = TenantState("t", settled_generation=settled)
    state.note_applied(REF, 3, effect, 7.0)
    assert state.restored == ([REF] if is_restored else [])


def test_only_an_object_that_still_existed_was_repaired() -> None:
    state = TenantState("t", settled_generation=3)
    other = Ref(CONFIG_MAP, Key("shop", "other"))
    state.note_applied(REF, 3, StepEffect.CHANGED, 7.0)
    state.note_applied(other, 3, StepEffect.CREATED, 7.0)
    assert state.repaired_at == {REF: 7.0}
