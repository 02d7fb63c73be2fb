"""Similar documents take little memory, are returned only in the version asked for, and stay within a bound."""

import os

from steward.kube.objects.kinds import Key
from steward.tenants.controllers.common.compressed_cache import MAX_FAMILIES, CompressedCache


def test_a_document_is_returned_only_in_the_version_that_was_set() -> None:
    cache = CompressedCache()
    cache.set(Key("saas", "acme"), "7", b'{"spec":{}}', "web/1")

    assert cache.get(Key("saas", "acme"), "7") == b'{"spec":{}}'
    assert cache.get(Key("saas", "acme"), "8") is None
    assert cache.get(Key("saas", "globex"), "7") is None


def test_a_fleet_costs_little_more_than_its_differences() -> None:
    cache = CompressedCache()
    common = os.urandom(4_000).hex()
    bodies = {Key("saas", f"t{number}"): f"{common}-t{number}".encode() for number in range(100)}
    for key, body in bodies.items():
        cache.set(key, "1", body, "web/1")

    assert cache.size < len(common) + 100 * 100
    assert all(cache.get(key, "1") == body for key, body in bodies.items())


def test_each_family_is_compressed_against_its_first_document_even_after_that_is_forgotten() -> None:
    cache = CompressedCache()
    for family in range(MAX_FAMILIES + 2):
        for number in range(2):
            cache.set(Key(str(family), str(number)), "1", f"{family}/{number}".encode() * 50, str(family))
        cache.forget(Key(str(family), "0"))

    found = [cache.get(Key(str(family), "1"), "1") for family in range(MAX_FAMILIES + 2)]
    assert found == [f"{family}/1".encode() * 50 for family in range(MAX_FAMILIES + 2)]


def test_the_oldest_documents_are_dropped_when_the_bound_is_reached() -> None:
    cache = CompressedCache(max_bytes=10_000)
    bodies = {Key("saas", str(number)): os.urandom(3_000) for number in range(5)}
    for key, body in bodies.items():
        cache.set(key, "1", body, key.name)

    assert cache.size <= 10_000
    assert [cache.get(Key("saas", str(number)), "1") is not None for number in range(5)] == [
        *(False, False),
        *(True, True, True),
    ]


def test_a_later_version_replaces_the_earlier_one() -> None:
    cache = CompressedCache()
    cache.set(Key("saas", "acme"), "7", os.urandom(30_000), "web/1")
    cache.set(Key("saas", "acme"), "8", b"small", "web/1")

    assert cache.get(Key("saas", "acme"), "8") == b"small"
    assert cache.size < 100

    cache.forget(Key("saas", "acme"))
    assert cache.size == 0
