"""When to ask again, and how long to wait first. Pure.

A request is repeated only when it certainly had no effect yet, or when having it twice is the same as having it
once. Everything else is told to the caller, who knows what to look at.
"""

from msgspec import Struct

from steward.kube import errors

_TRANSIENT = frozenset((500, 502, 503, 504))


class RetryPolicy(Struct, frozen=True, kw_only=True):
    attempts: int = 5
    first: float = 0.1
    """Seconds before the second attempt; doubled for each one after it."""
    longest: float = 5.0


NEVER = RetryPolicy(attempts=1)


def may_repeat(failure: errors.KubeError, repeatable: bool) -> bool:
    match failure:
        case errors.DisruptionBudget() | errors.TlsError() | errors.Unreadable():
            return False
        case errors.TooManyRequests() | errors.Unreachable():
            return True
        case errors.Timeout():
            return repeatable or not failure.ambiguous
        case errors.ServerError():
            return repeatable and failure.status in _TRANSIENT
        case _:
            return False


def wait_before(failure: errors.KubeError, attempt: int, policy: RetryPolicy, chance: float) -> float:
    """Seconds to wait after the given attempt (the first is 1); `chance` in [0, 1) spreads clients apart."""
    asked = getattr(failure, "retry_after", None)
    if asked:
        return float(asked) * (1 + 0.2 * chance)
    longest: float = min(policy.longest, policy.first * 2.0 ** (attempt - 1))
    return longest * (0.5 + 0.5 * chance)
