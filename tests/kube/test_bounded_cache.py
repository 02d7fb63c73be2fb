import pytest

from steward.kube.bounded_cache import LruCache, TtlCache
from steward.testkit.clock import FakeClock


def test_an_lru_cache_returns_the_value_that_was_set_last() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.set("a", 1)
    cache.set("a", 2)

    assert (cache.get("a"), cache.get("b"), len(cache)) == (2, None, 1)


def test_an_lru_cache_drops_the_least_recently_used_entry() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.set("a", 1)
    cache.set("b", 2)
    cache.get("a")
    cache.set("c", 3)

    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (1, None, 3, 2)


def test_setting_an_entry_of_an_lru_cache_counts_as_a_use() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.set("a", 1)
    cache.set("b", 2)
    cache.set("a", 3)
    cache.set("c", 4)

    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (3, None, 4)


@pytest.mark.parametrize("value", [False, 0, "", ()])
def test_a_false_value_of_an_lru_cache_is_kept_and_counts_as_used(value: object) -> None:
    cache: LruCache[str, object] = LruCache(2)
    cache.set("a", value)
    cache.set("b", 1)
    assert cache.get("a") == value
    cache.set("c", 1)

    assert (cache.get("a"), cache.get("b")) == (value, None)


def test_entries_of_an_lru_cache_are_forgotten_one_by_one_or_by_their_keys() -> None:
    cache: LruCache[int, str] = LruCache(10)
    for number in range(4):
        cache.set(number, str(number))
    cache.forget(0)
    cache.forget(99)
    cache.forget_where(lambda number: number >= 2)

    assert [cache.get(number) for number in range(4)] == [None, "1", None, None]


def test_an_entry_of_a_ttl_cache_expires() -> None:
    clock = FakeClock()
    cache: TtlCache[str, int] = TtlCache(clock, 10)
    cache.set("a", 1)
    clock.advance(9.5)
    assert cache.get("a") == 1

    clock.advance(0.5)
    assert cache.get("a") is None


def test_setting_an_entry_of_a_ttl_cache_starts_its_period_anew() -> None:
    clock = FakeClock()
    cache: TtlCache[str, int] = TtlCache(clock, 10)
    cache.set("a", 1)
    clock.advance(9)
    cache.set("a", 2)
    clock.advance(9)

    assert cache.get("a") == 2


def test_an_entry_of_a_ttl_cache_may_have_a_period_of_its_own() -> None:
    clock = FakeClock()
    cache: TtlCache[str, int] = TtlCache(clock, 10)
    cache.set("a", 1, seconds=2)
    cache.set("b", 2, seconds=0)
    assert (cache.get("a"), cache.get("b")) == (1, None)

    clock.advance(2)
    assert cache.get("a") is None


def test_a_ttl_cache_drops_expired_entries_when_another_is_set() -> None:
    clock = FakeClock()
    cache: TtlCache[int, int] = TtlCache(clock, 10)
    for number in range(100):
        cache.set(number, number)
    clock.advance(10)
    cache.set(100, 100)

    assert len(cache) == 1


def test_a_ttl_cache_does_not_read_the_wall_clock() -> None:
    clock = FakeClock()
    cache: TtlCache[str, int] = TtlCache(clock, 10)
    cache.set("a", 1)
    clock.jump(3600)

    assert cache.get("a") == 1


def test_entries_of_a_ttl_cache_are_forgotten_one_by_one_or_by_their_keys() -> None:
    cache: TtlCache[int, str] = TtlCache(FakeClock(), 10)
    for number in range(4):
        cache.set(number, str(number))
    cache.forget(0)
    cache.forget(99)
    cache.forget_where(lambda number: number >= 2)

    assert [cache.get(number) for number in range(4)] == [None, "1", None, None]
