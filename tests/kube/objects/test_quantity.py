from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.kube.objects.quantity import canonical_quantity, parse_quantity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1000m", "1"),
        ("1Gi", "1024Mi"),
        ("1", 1),
        ("0.5", "500m"),
        (".5", "0.50"),
        ("1.", "1"),
        ("1e3", "1k"),
        ("1E3", "1k"),
        ("1e-3", "1m"),
        ("1.5Gi", "1536Mi"),
        ("1000000k", "1G"),
        ("2e9", "2G"),
        ("100u", "100000n"),
        ("0", "0Gi"),
        ("-1", "-1000m"),
        ("+1", "1"),
        ("1E", "1000P"),
        ("1Ei", "1024Pi"),
        (1.5, "1500m"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("9223372036854775807", "9223372036854775808"),
        ("1e99", "9223372036854775807"),
    ],
)
def test_equal_amounts_have_one_spelling(one: str | float, other: str | float) -> None:
    assert parse_quantity(one) == parse_quantity(other)
    assert canonical_quantity(one) == canonical_quantity(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "1m"), ("1G", "1Gi"), ("1M", "1m"), ("1", "-1"), ("1K1", "1")]
)
def test_different_amounts_differ(one: str, other: str) -> None:
    assert canonical_quantity(one) != canonical_quantity(other)


@pytest.mark.parametrize(
    "text", ["", "x", "1 Gi", "1gi", "1K", "--1", "1.2.3", "e3", "Gi", ".", "1e", "0x10", "1\n"]
)
def test_text_that_is_no_quantity_is_rejected(text: str) -> None:
    assert canonical_quantity(text) is None
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


def test_an_amount_is_exact() -> None:
    assert parse_quantity("0.1") == Fraction(1, 10)
    assert parse_quantity("1.1Ki") == Fraction(11264, 10)


@given(st.integers(min_value=0, max_value=10**15), st.sampled_from(["", "k", "M", "Ki", "Mi"]))
def test_whole_amounts_scale(amount: int, suffix: str) -> None:
    scale = {"": 1, "k": 1000, "M": 10**6, "Ki": 1024, "Mi": 1024**2}[suffix]

    assert parse_quantity(f"{amount}{suffix}") == min(amount * scale, 2**63 - 1)


@given(st.text(max_size=12))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    canonical_quantity(text)
