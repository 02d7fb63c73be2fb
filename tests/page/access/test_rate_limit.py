"""Rate limits by key."""

from steward.page.access.rate_limit import RateLimit


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    now = [0.0]
    limit = RateLimit(per_second=2, burst=3, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]
    now[0] = 0.5
    assert [limit.allows("a") for _ in range(2)] == [True, False]


def test_keys_do_not_share_a_limit() -> None:
    limit = RateLimit(per_second=0, burst=1, clock=lambda: 0.0)
    assert (limit.allows("a"), limit.allows("b"), limit.allows("a")) == (True, True, False)
