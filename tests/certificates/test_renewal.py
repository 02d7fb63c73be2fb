"""Renewal decisions at chosen times."""

from dataclasses import replace

import pytest

from steward.certificates import renewal
from steward.certificates.authority import Usage
from steward.certificates.options import DAY, HOUR, KeeperOptions, Leaf
from steward.certificates.renewal import RenewalContext, RenewalReason
from steward.certificates.secret_store import CertificateSecret

NOW = 1_800_000_000.0
LEAF = Leaf("tls", service="web", dns_names=("extra",))
OPTIONS = KeeperOptions("shop", "ca", (LEAF,))
AT = RenewalContext(OPTIONS, NOW)


def later(seconds):
    return RenewalContext(OPTIONS, NOW + seconds)


@pytest.fixture(scope="module")
def first():
    return renewal.new_authority(None, [None], OPTIONS, NOW)


@pytest.fixture(scope="module")
def leaf(first):
    return renewal.signed_leaf_data(LEAF, first, AT)


@pytest.fixture(scope="module")
def second(first, leaf):
    """The authority of a rotation at NOW + 1 day."""
    return renewal.new_authority(first.data(), [leaf], OPTIONS, NOW + DAY)


def test_an_authority_is_valid_for_ten_years_and_a_leaf_for_one_backdated_by_an_hour(first, leaf):
    issued = renewal.read_leaf(leaf)
    assert (first.facts.not_before, first.facts.not_after) == (NOW - HOUR, NOW + 3650 * DAY)
    assert (issued.facts.not_before, issued.facts.not_after) == (NOW - HOUR, NOW + 365 * DAY)
    assert (first.made_at, issued.made_at) == (NOW, NOW)


def test_a_leaf_has_the_names_of_the_service_and_the_extra_ones(leaf):
    names = renewal.read_leaf(leaf).facts.dns_names
    assert names == {"web.shop.svc", "web.shop.svc.cluster.local", "extra"}


@pytest.mark.parametrize(
    ("change", "seconds", "reason"),
    [
        (lambda data: data, 0, None),
        (lambda data: data, 3620 * DAY - 1, None),
        (lambda data: data, 3620 * DAY, RenewalReason.EXPIRING),
        (lambda data: data, 4000 * DAY, RenewalReason.EXPIRING),
        (lambda data: data, -2 * HOUR, RenewalReason.NOT_YET_VALID),
        (lambda data: None, 0, RenewalReason.MISSING),
        (lambda data: {}, 0, RenewalReason.CORRUPT),
        (lambda data: data | {"ca.crt": b"junk"}, 0, RenewalReason.CORRUPT),
        (lambda data: data | {"ca.key": b"junk"}, 0, RenewalReason.CORRUPT),
    ],
)
def test_when_a_new_authority_is_due(first, change, seconds, reason):
    assert renewal.authority_renewal_reason(change(first.data()), OPTIONS, NOW + seconds) is reason


def test_a_leaf_is_no_authority(first, leaf):
    data = {"ca.crt": leaf["tls.crt"], "ca.key": leaf["tls.key"]}
    assert renewal.authority_renewal_reason(data, OPTIONS, NOW) is RenewalReason.CORRUPT


@pytest.mark.parametrize(
    ("change", "seconds", "reason"),
    [
        (lambda data: data, 0, None),
        (lambda data: data, 335 * DAY - 1, None),
        (lambda data: data, 335 * DAY, RenewalReason.EXPIRING),
        (lambda data: None, 0, RenewalReason.MISSING),
        (lambda data: {}, 0, RenewalReason.CORRUPT),
        (lambda data: data | {"tls.key": b"junk"}, 0, RenewalReason.CORRUPT),
    ],
)
def test_when_a_leaf_is_due(first, leaf, change, seconds, reason):
    assert renewal.leaf_renewal_reason(LEAF, change(leaf), first, later(seconds)) is reason


@pytest.mark.parametrize(
    "changed",
    [
        replace(LEAF, service="other"),
        replace(LEAF, dns_names=()),
        replace(LEAF, ip_addresses=("10.0.0.1",)),
        replace(LEAF, usages=(Usage.SERVER, Usage.CLIENT)),
    ],
)
def test_a_leaf_with_another_profile_is_due_at_once(first, leaf, changed):
    assert renewal.leaf_renewal_reason(changed, leaf, first, AT) is RenewalReason.NAMES


def test_a_leaf_of_an_untrusted_authority_is_due_at_once(leaf):
    stranger = renewal.new_authority(None, [], OPTIONS, NOW)
    assert renewal.leaf_renewal_reason(LEAF, leaf, stranger, AT) is RenewalReason.UNTRUSTED


def test_a_new_authority_keeps_the_old_one_in_the_bundle(first, second):
    assert second.previous == (first.pair.certificate,)
    assert second.bundle == second.pair.certificate + first.pair.certificate
    assert second.data()["previous.crt"] == first.pair.certificate
    assert first.pair.key not in second.data().values()


def test_what_is_written_can_be_read_back(first, second):
    for authority in (first, second):
        assert renewal.read_authority(authority.data()) == authority


@pytest.mark.parametrize(
    ("seconds", "reason"),
    [
        (DAY, None),
        (DAY + HOUR - 1, None),
        (DAY + HOUR, RenewalReason.NEW_AUTHORITY),
        (9 * DAY, RenewalReason.NEW_AUTHORITY),
    ],
)
def test_leaves_move_to_the_new_authority_only_after_the_overlap(second, leaf, seconds, reason):
    assert renewal.leaf_renewal_reason(LEAF, leaf, second, later(seconds)) is reason


def test_a_leaf_that_expires_within_the_overlap_is_renewed_before(first):
    short = replace(OPTIONS, lifetimes=replace(OPTIONS.lifetimes, leaf=60))
    leaf = renewal.signed_leaf_data(LEAF, first, RenewalContext(short, NOW))
    rotated = renewal.new_authority(first.data(), [leaf], short, NOW + 30)
    assert renewal.leaf_renewal_reason(LEAF, leaf, rotated, RenewalContext(short, NOW + 59)) is None
    assert (
        renewal.leaf_renewal_reason(LEAF, leaf, rotated, RenewalContext(short, NOW + 60))
        is RenewalReason.NEW_AUTHORITY
    )


def test_the_old_authority_is_removed_only_after_every_leaf_has_been_renewed_for_the_overlap(second, leaf):
    moved_at = DAY + HOUR
    fresh = renewal.signed_leaf_data(LEAF, second, later(moved_at))
    for leaves, seconds, gone in [
        ([leaf], 30 * DAY, False),
        ([fresh, leaf], 30 * DAY, False),
        ([fresh, None], 30 * DAY, False),
        ([fresh], moved_at + HOUR - 1, False),
        ([fresh], moved_at + HOUR, True),
    ]:
        after = renewal.without_previous(second, leaves, OPTIONS, NOW + seconds)
        assert (after is not None) is gone
    assert after.bundle == second.pair.certificate
    assert renewal.without_previous(after, [fresh], OPTIONS, NOW + 30 * DAY) is None


def test_leaves_stay_trusted_after_the_ca_secret_is_deleted(first, leaf):
    fresh = renewal.new_authority(None, [leaf], OPTIONS, NOW + DAY)
    assert fresh.previous == (first.pair.certificate,)
    assert renewal.leaf_renewal_reason(LEAF, leaf, fresh, later(DAY)) is None


def test_leaves_stay_trusted_after_the_ca_key_is_corrupted(first, leaf):
    fresh = renewal.new_authority(first.data() | {"ca.key": b"junk"}, [leaf], OPTIONS, NOW + DAY)
    assert fresh.previous == (first.pair.certificate,)


def test_a_rotation_during_a_rotation_trusts_the_authorities_of_leaves_in_use(first, second, leaf):
    third = renewal.new_authority(second.data(), [leaf], OPTIONS, NOW + DAY + 60)
    assert third.previous == (first.pair.certificate,)
    other = renewal.signed_leaf_data(LEAF, second, later(DAY))
    third = renewal.new_authority(second.data(), [leaf, other], OPTIONS, NOW + DAY + 60)
    assert set(third.previous) == {first.pair.certificate, second.pair.certificate}


def test_an_authority_that_has_expired_is_not_kept(first, leaf):
    assert renewal.new_authority(first.data(), [leaf], OPTIONS, NOW + 4000 * DAY).previous == ()


def test_the_next_check_is_due_with_the_next_step(first, second, leaf):
    moved = renewal.signed_leaf_data(LEAF, second, later(DAY + HOUR))
    for authority, leaves, seconds, wait in [
        (first, [leaf], 0, HOUR),
        (first, [leaf], 335 * DAY - 10, 10),
        (second, [leaf], DAY + 50 * 60, 600),
        (second, [moved], DAY + HOUR + 1, HOUR - 1),
    ]:
        assert renewal.seconds_to_next_check(authority, leaves, later(seconds)) == wait


def test_the_content_of_a_secret_is_in_no_repr(first):
    secret = CertificateSecret({"metadata": {}, "data": {"ca.key": first.pair.key.decode()}})
    assert "PRIVATE" not in f"{secret!r} {first!r} {renewal.read_authority(first.data())!r}"
