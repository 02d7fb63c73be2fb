from steward.kube.objects.kinds import Key
from steward.tenants.api.tenant import AppliedObject
from steward.tenants.controllers.tenant.state import Brought, Memories, brought_up

RECORD = AppliedObject(api_version="v1", kind="ConfigMap", namespace="saas", name="config", id="config")
EARLIER, NOW = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def done(*, changed: bool, uid: str = "u") -> Brought:
    return Brought(uid, changed, 4, NOW)


def known(uid: str = "u") -> AppliedObject:
    return brought_up(RECORD, None, Brought(uid, changed=True, generation=3, now=EARLIER))


def test_the_time_moves_only_with_a_change() -> None:
    assert brought_up(RECORD, known(), done(changed=False)).changed_at == EARLIER
    assert brought_up(RECORD, known(), done(changed=True)).changed_at == NOW


def test_an_object_of_which_nothing_is_known_counts_from_now() -> None:
    assert brought_up(RECORD, None, done(changed=False)).changed_at == NOW
    assert brought_up(RECORD, RECORD, done(changed=False)).changed_at == NOW


def test_a_namesake_with_another_uid_counts_from_now() -> None:
    assert brought_up(RECORD, known("other"), done(changed=False)).changed_at == NOW


def test_a_record_names_the_object_and_the_version_that_it_was_brought_to() -> None:
    found = brought_up(RECORD, known(), done(changed=False))
    assert (found.uid, found.generation) == ("u", 4)


def test_a_tenant_of_the_same_name_that_comes_later_shares_nothing() -> None:
    memories = Memories()
    memories.of(Key("saas", "acme"), "1").take_in([RECORD])
    assert memories.of(Key("saas", "acme"), "1").records
    assert not memories.of(Key("saas", "acme"), "2").records


def test_a_tenant_is_recalled_if_objects_were_recorded_when_it_was_first_seen() -> None:
    new, recalled = Memories().of(Key("saas", "acme"), "1"), Memories().of(Key("saas", "acme"), "1")
    new.take_in([])
    new.take_in([RECORD])
    recalled.take_in([RECORD])
    assert (new.is_recalled, recalled.is_recalled) == (False, True)
