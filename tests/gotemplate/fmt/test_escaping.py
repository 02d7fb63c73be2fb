"""html, js, urlquery, and what an action prints."""

from __future__ import annotations

from typing import Any

import pytest

from steward.gotemplate.budget import Budget
from steward.gotemplate.fmt.escaping import escape_html, escape_js, escape_query, printed


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["<a href='x'>&\"\0"], "&lt;a href=&#39;x&#39;&gt;&amp;&#34;\ufffd"),
        ([1, 2, "a"], "1 2a"),
        ([None], "&lt;no value&gt;"),
        ([], ""),
    ],
)
def test_html(args: list[Any], text: str) -> None:
    assert escape_html(Budget(), *args) == text


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["plain"], "plain"),
        (["a'b\"c\\<>&=\n"], "a\\'b\\\"c\\\\\\u003C\\u003E\\u0026\\u003D\\u000A"),
        (["é\u2028\x7f\udcff"], "é\\u2028\x7f\udcff"),
        ([True, 1.0], "true 1"),
    ],
)
def test_js(args: list[Any], text: str) -> None:
    assert escape_js(Budget(), *args) == text


def test_urlquery() -> None:
    assert escape_query(Budget(), "a b&é/?") == "a+b%26%C3%A9%2F%3F"


def test_nil_is_printed_as_no_value() -> None:
    assert printed(None, Budget()) == "<no value>"
    assert printed([None], Budget()) == "[<nil>]"
