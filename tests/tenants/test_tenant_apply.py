import pytest

from steward.tenants.controllers.tenant_apply import MOST_PATIENCE_SECONDS, patience


@pytest.mark.parametrize(
    ("asked", "elapsed", "after"),
    [
        (5.0, 0.0, 5.0),
        (5.0, 19.0, 5.0),
        (5.0, 100.0, 25.0),
        (5.0, 100_000.0, MOST_PATIENCE_SECONDS),
        (300.0, 100_000.0, 300.0),
        (None, 100_000.0, None),
    ],
)
def test_what_has_failed_for_long_is_looked_at_less_often(
    asked: float | None, elapsed: float, after: float | None
) -> None:
    assert patience(asked, elapsed) == after
