"""Documents that are nearly alike are kept small, in the version asked for, within a bound."""

import os

from steward.kube.objects.kinds import Key
from steward.tenants.controllers.common.compressed_cache import MOST_FAMILIES, Archive


def test_a_document_comes_back_as_it_was_kept_in_that_version_only() -> None:
    archive = Archive()
    archive.keep(Key("saas", "acme"), "7", b'{"spec":{}}', "web/1")

    assert archive.get(Key("saas", "acme"), "7") == b'{"spec":{}}'
    assert archive.get(Key("saas", "acme"), "8") is None
    assert archive.get(Key("saas", "globex"), "7") is None


def test_a_fleet_costs_little_more_than_what_tells_its_members_apart() -> None:
    archive = Archive()
    likeness = os.urandom(4_000).hex()
    bodies = {Key("saas", f"t{number}"): f"{likeness}-t{number}".encode() for number in range(100)}
    for key, body in bodies.items():
        archive.keep(key, "1", body, "web/1")

    assert archive.size < len(likeness) + 100 * 100
    assert all(archive.get(key, "1") == body for key, body in bodies.items())


def test_each_family_is_held_against_its_own_first_member_even_after_that_is_forgotten() -> None:
    archive = Archive()
    for family in range(MOST_FAMILIES + 2):
        for number in range(2):
            archive.keep(Key(str(family), str(number)), "1", f"{family}/{number}".encode() * 50, str(family))
        archive.forget(Key(str(family), "0"))

    found = [archive.get(Key(str(family), "1"), "1") for family in range(MOST_FAMILIES + 2)]
    assert found == [f"{family}/1".encode() * 50 for family in range(MOST_FAMILIES + 2)]


def test_what_was_kept_longest_ago_goes_when_the_bound_is_reached() -> None:
    archive = Archive(most_bytes=10_000)
    bodies = {Key("saas", str(number)): os.urandom(3_000) for number in range(5)}
    for key, body in bodies.items():
        archive.keep(key, "1", body, key.name)

    assert archive.size <= 10_000
    assert [archive.get(Key("saas", str(number)), "1") is not None for number in range(5)] == [
        *(False, False),
        *(True, True, True),
    ]


def test_a_later_version_takes_the_place_of_the_earlier_one() -> None:
    archive = Archive()
    archive.keep(Key("saas", "acme"), "7", os.urandom(30_000), "web/1")
    archive.keep(Key("saas", "acme"), "8", b"small", "web/1")

    assert archive.get(Key("saas", "acme"), "8") == b"small"
    assert archive.size < 100

    archive.forget(Key("saas", "acme"))
    assert archive.size == 0
