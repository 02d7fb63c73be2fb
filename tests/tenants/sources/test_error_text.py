"""Texts of servers in messages."""

from hypothesis import given
from hypothesis import strategies as st

from steward.tenants.sources.error_text import MAX_LENGTH, clean_text


def test_a_text_becomes_one_printable_line() -> None:
    assert clean_text("syntax\n\terror \x1b[31m near\0 x") == "syntax error [31m near x"


def test_a_long_text_is_cut() -> None:
    assert clean_text("x" * 1_000_000) == "x" * MAX_LENGTH + "…"


def test_a_secret_is_masked_wherever_it_is_cut() -> None:
    assert clean_text("is it s3cret, or s3cret?", "s3cret") == "is it ***, or ***?"
    assert "s3c" not in clean_text("x" * (MAX_LENGTH - 3) + "s3cret", "s3cret")


def test_a_short_secret_is_not_shown_by_what_is_masked() -> None:
    assert clean_text("operation", "p") == "operation"


@given(st.text(), st.text())
def test_the_result_is_always_short_and_printable(text: str, secret: str) -> None:
    found = clean_text(text, secret)
    assert len(found) <= MAX_LENGTH + 1
    assert found.isprintable()
