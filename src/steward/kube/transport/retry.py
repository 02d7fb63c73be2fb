"""Decides whether a request is retried, and after which delay. Pure.

A request is retried only when it certainly had no effect yet, or when it is idempotent. All other failures are raised
to the caller, which knows what to check.
"""

from msgspec import Struct

from steward.kube import errors

_TRANSIENT = frozenset((500, 502, 503, 504))


class RetryPolicy(Struct, frozen=True, kw_only=True):
    attempts: int = 5
    first_delay: float = 0.1
    """Seconds before the second attempt; doubled for each further one."""
    max_delay: float = 5.0


NO_RETRY = RetryPolicy(attempts=1)


def may_retry(failure: errors.KubeError, idempotent: bool) -> bool:
    match failure:
        case errors.DisruptionBudget() | errors.TlsError() | errors.Unreadable():
            return False
        case errors.TooManyRequests() | errors.Unreachable():
            return True
        case errors.Timeout():
            return idempotent or not failure.ambiguous
        case errors.ServerError():
            return idempotent and failure.status in _TRANSIENT
        case _:
            return False


def retry_delay(failure: errors.KubeError, attempt: int, policy: RetryPolicy, random: float) -> float:
    """Seconds to wait after the given attempt (the first is 1); `random` in [0, 1) adds jitter."""
    retry_after = getattr(failure, "retry_after", None)
    if retry_after:
        return float(retry_after) * (1 + 0.2 * random)
    backoff: float = min(policy.max_delay, policy.first_delay * 2.0 ** (attempt - 1))
    return backoff * (0.5 + 0.5 * random)
