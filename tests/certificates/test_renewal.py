"""The decisions of the certificate keeper, at chosen moments."""

from dataclasses import replace

import pytest

from steward.certificates import renewal
from steward.certificates.authority import Usage
from steward.certificates.options import DAY, HOUR, KeeperOptions, Leaf
from steward.certificates.renewal import Moment, Reason
from steward.certificates.secret_store import KeptSecret

NOW = 1_800_000_000.0
LEAF = Leaf("tls", service="web", dns_names=("extra",))
OPTIONS = KeeperOptions("shop", "ca", (LEAF,))
AT = Moment(OPTIONS, NOW)


def later(seconds):
    return Moment(OPTIONS, NOW + seconds)


@pytest.fixture(scope="module")
def first():
    return renewal.new_authority(None, [None], OPTIONS, NOW)


@pytest.fixture(scope="module")
def leaf(first):
    return renewal.signed(LEAF, first, AT)


@pytest.fixture(scope="module")
def second(first, leaf):
    """The authority of a rotation at NOW + 1 day."""
    return renewal.new_authority(first.data(), [leaf], OPTIONS, NOW + DAY)


def test_an_authority_lives_ten_years_and_a_leaf_one_dated_back_by_an_hour(first, leaf):
    issued = renewal.read_leaf(leaf)
    assert (first.facts.not_before, first.facts.not_after) == (NOW - HOUR, NOW + 3650 * DAY)
    assert (issued.facts.not_before, issued.facts.not_after) == (NOW - HOUR, NOW + 365 * DAY)
    assert (first.made_at, issued.made_at) == (NOW, NOW)


def test_a_leaf_carries_the_services_names_and_the_extra_ones(leaf):
    names = renewal.read_leaf(leaf).facts.dns_names
    assert names == {"web.shop.svc", "web.shop.svc.cluster.local", "extra"}


@pytest.mark.parametrize(
    ("change", "seconds", "reason"),
    [
        (lambda data: data, 0, None),
        (lambda data: data, 3620 * DAY - 1, None),
        (lambda data: data, 3620 * DAY, Reason.EXPIRING),
        (lambda data: data, 4000 * DAY, Reason.EXPIRING),
        (lambda data: data, -2 * HOUR, Reason.EXPIRING),
        (lambda data: None, 0, Reason.MISSING),
        (lambda data: {}, 0, Reason.CORRUPT),
        (lambda data: data | {"ca.crt": b"junk"}, 0, Reason.CORRUPT),
        (lambda data: data | {"ca.key": b"junk"}, 0, Reason.CORRUPT),
    ],
)
def test_when_a_new_authority_is_due(first, change, seconds, reason):
    assert renewal.authority_due(change(first.data()), OPTIONS, NOW + seconds) is reason


def test_a_leaf_is_no_authority(first, leaf):
    data = {"ca.crt": leaf["tls.crt"], "ca.key": leaf["tls.key"]}
    assert renewal.authority_due(data, OPTIONS, NOW) is Reason.CORRUPT


@pytest.mark.parametrize(
    ("change", "seconds", "reason"),
    [
        (lambda data: data, 0, None),
        (lambda data: data, 335 * DAY - 1, None),
        (lambda data: data, 335 * DAY, Reason.EXPIRING),
        (lambda data: None, 0, Reason.MISSING),
        (lambda data: {}, 0, Reason.CORRUPT),
        (lambda data: data | {"tls.key": b"junk"}, 0, Reason.CORRUPT),
    ],
)
def test_when_a_leaf_is_due(first, leaf, change, seconds, reason):
    assert renewal.leaf_due(LEAF, change(leaf), first, later(seconds)) is reason


@pytest.mark.parametrize(
    "changed",
    [
        replace(LEAF, service="other"),
        replace(LEAF, dns_names=()),
        replace(LEAF, ip_addresses=("10.0.0.1",)),
        replace(LEAF, usages=(Usage.SERVER, Usage.CLIENT)),
    ],
)
def test_a_leaf_that_shall_say_something_else_is_due_at_once(first, leaf, changed):
    assert renewal.leaf_due(changed, leaf, first, AT) is Reason.NAMES


def test_a_leaf_of_an_authority_that_nobody_trusts_is_due_at_once(leaf):
    stranger = renewal.new_authority(None, [], OPTIONS, NOW)
    assert renewal.leaf_due(LEAF, leaf, stranger, AT) is Reason.UNTRUSTED


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
        (DAY + HOUR, Reason.NEW_AUTHORITY),
        (9 * DAY, Reason.NEW_AUTHORITY),
    ],
)
def test_leaves_move_to_the_new_authority_only_after_the_overlap(second, leaf, seconds, reason):
    assert renewal.leaf_due(LEAF, leaf, second, later(seconds)) is reason


def test_a_leaf_that_expires_within_the_overlap_does_not_wait_for_its_end(first):
    short = replace(OPTIONS, lifetimes=replace(OPTIONS.lifetimes, leaf=60))
    leaf = renewal.signed(LEAF, first, Moment(short, NOW))
    rotated = renewal.new_authority(first.data(), [leaf], short, NOW + 30)
    assert renewal.leaf_due(LEAF, leaf, rotated, Moment(short, NOW + 59)) is None
    assert renewal.leaf_due(LEAF, leaf, rotated, Moment(short, NOW + 60)) is Reason.NEW_AUTHORITY


def test_the_old_authority_goes_only_when_every_leaf_has_long_been_signed_anew(second, leaf):
    moved_at = DAY + HOUR
    fresh = renewal.signed(LEAF, second, later(moved_at))
    for leaves, seconds, gone in [
        ([leaf], 30 * DAY, False),
        ([fresh, leaf], 30 * DAY, False),
        ([fresh, None], 30 * DAY, False),
        ([fresh], moved_at + HOUR - 1, False),
        ([fresh], moved_at + HOUR, True),
    ]:
        after = renewal.retired(second, leaves, OPTIONS, NOW + seconds)
        assert (after is not None) is gone
    assert after.bundle == second.pair.certificate
    assert renewal.retired(after, [fresh], OPTIONS, NOW + 30 * DAY) is None


def test_trust_outlives_a_deleted_ca_secret(first, leaf):
    fresh = renewal.new_authority(None, [leaf], OPTIONS, NOW + DAY)
    assert fresh.previous == (first.pair.certificate,)
    assert renewal.leaf_due(LEAF, leaf, fresh, later(DAY)) is None


def test_trust_outlives_a_broken_ca_key(first, leaf):
    fresh = renewal.new_authority(first.data() | {"ca.key": b"junk"}, [leaf], OPTIONS, NOW + DAY)
    assert fresh.previous == (first.pair.certificate,)


def test_a_rotation_during_a_rotation_trusts_whoever_signed_a_leaf_in_use(first, second, leaf):
    third = renewal.new_authority(second.data(), [leaf], OPTIONS, NOW + DAY + 60)
    assert third.previous == (first.pair.certificate,)
    other = renewal.signed(LEAF, second, later(DAY))
    third = renewal.new_authority(second.data(), [leaf, other], OPTIONS, NOW + DAY + 60)
    assert set(third.previous) == {first.pair.certificate, second.pair.certificate}


def test_an_authority_that_has_expired_is_not_kept(first, leaf):
    assert renewal.new_authority(first.data(), [leaf], OPTIONS, NOW + 4000 * DAY).previous == ()


def test_the_next_check_comes_with_the_next_step(first, second, leaf):
    moved = renewal.signed(LEAF, second, later(DAY + HOUR))
    for authority, leaves, seconds, wait in [
        (first, [leaf], 0, HOUR),
        (first, [leaf], 335 * DAY - 10, 10),
        (second, [leaf], DAY + 50 * 60, 600),
        (second, [moved], DAY + HOUR + 1, HOUR - 1),
    ]:
        assert renewal.seconds_to_next_check(authority, leaves, later(seconds)) == wait


def test_the_content_of_a_secret_is_in_no_repr(first):
    secret = KeptSecret({"metadata": {}, "data": {"ca.key": first.pair.key.decode()}})
    assert "PRIVATE" not in f"{secret!r} {first!r} {renewal.read_authority(first.data())!r}"
