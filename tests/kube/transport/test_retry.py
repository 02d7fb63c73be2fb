import pytest

from steward.kube import errors
from steward.kube.transport.retry import RetryPolicy, may_retry, retry_delay


def refused(kind: type[errors.ApiError], code: int) -> errors.ApiError:
    return kind(code, "", "refused")


ALWAYS = [errors.Unreachable("x"), refused(errors.TooManyRequests, 429), errors.Timeout("x", ambiguous=False)]
ONLY_IF_REPEATABLE = [
    errors.Timeout("x", ambiguous=True),
    refused(errors.InternalError, 500),
    refused(errors.ServerError, 502),
    refused(errors.Unavailable, 503),
    refused(errors.ServerTimeout, 504),
]
NEVER = [
    errors.TlsError("x"),
    refused(errors.DisruptionBudget, 429),
    refused(errors.ServerError, 501),
    refused(errors.Conflict, 409),
    refused(errors.NotFound, 404),
    refused(errors.Invalid, 422),
    refused(errors.Gone, 410),
    refused(errors.Unreadable, 500),
    errors.LeaseLost("x"),
    errors.ConfigError("x"),
]


@pytest.mark.parametrize("failure", ALWAYS, ids=repr)
def test_a_request_that_had_no_effect_is_always_retried(failure: errors.KubeError) -> None:
    assert may_retry(failure, idempotent=False)


@pytest.mark.parametrize("failure", ONLY_IF_REPEATABLE, ids=repr)
def test_a_request_that_may_have_had_an_effect_is_retried_only_if_idempotent(
    failure: errors.KubeError,
) -> None:
    assert may_retry(failure, idempotent=True)
    assert not may_retry(failure, idempotent=False)


@pytest.mark.parametrize("failure", NEVER, ids=repr)
def test_a_final_error_is_not_retried(failure: errors.KubeError) -> None:
    assert not may_retry(failure, idempotent=True)


@pytest.mark.parametrize(
    ("attempt", "least", "most"), [(1, 0.05, 0.1), (2, 0.1, 0.2), (5, 0.8, 1.6), (20, 2.5, 5.0)]
)
def test_waits_double_up_to_a_cap_and_are_spread(attempt: int, least: float, most: float) -> None:
    policy = RetryPolicy()
    waits = [retry_delay(errors.Unreachable("x"), attempt, policy, chance) for chance in (0.0, 1.0)]
    assert waits == pytest.approx([least, most])


def test_the_servers_retry_after_wins_and_is_never_undercut() -> None:
    failure = errors.TooManyRequests(429, "", "busy")
    failure.retry_after = 7.0
    assert retry_delay(failure, 1, RetryPolicy(), 0.0) == 7.0
    assert retry_delay(failure, 1, RetryPolicy(), 1.0) == pytest.approx(8.4)
