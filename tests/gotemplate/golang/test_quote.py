"""strconv.Quote."""

import pytest

from steward.gotemplate.golang.quote import can_backquote, quote, quote_rune


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ('a"b\\', r'"a\"b\\"'),
        ("\a\b\f\n\r\t\v\x00\x7f", r'"\a\b\f\n\r\t\v\x00\x7f"'),
        ("é日😀", '"é日😀"'),
        ("\udcff\u200b\xad", r'"\xff\u200b\u00ad"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\U0001fae8", '"\U0001fae8"'),
    ],
)
def test_what_does_not_print_is_escaped(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(("char", "quoted"), [("'", r"'\''"), ('"', "'\"'"), ("\n", r"'\n'"), ("x", "'x'")])
def test_a_rune_stands_between_single_quotes(char: str, quoted: str) -> None:
    assert quote_rune(char) == quoted


@pytest.mark.parametrize(
    ("text", "can"), [("a\tb", True), ("a`b", False), ("a\nb", False), ("\udcff", False)]
)
def test_only_plain_text_can_be_backquoted(text: str, can: bool) -> None:
    assert can_backquote(text) is can
