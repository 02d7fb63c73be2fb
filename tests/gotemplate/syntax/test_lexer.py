"""Tokens: what the pattern knows, what is read character by character, and every error's words."""

from __future__ import annotations

import pytest

from steward.gotemplate.syntax.lexer import MAX_COMMANDS, Delims, Lexer, delims_of, describe_rune

USUAL = Delims()


def tokens(source: str, delims: Delims = USUAL) -> list[tuple[str, str]]:
    return [(kind, text) for kind, _, text in Lexer(source, delims).run()]


def words(source: str) -> list[tuple[str, str]]:
    return [token for token in tokens(source) if token[0] not in ("space", "left", "right", "eof")]


def test_text_without_actions_is_one_token() -> None:
    assert tokens("plain } text") == [("text", "plain } text"), ("eof", "EOF")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ (.a.b) }}", [("(", "("), ("field", ".a"), ("field", ".b"), (")", ")")]),
        ("{{ .a.b }}{{ . }}", [("whole", ".a.b"), ("whole", ".")]),
        ("{{ end }}{{- else -}}", [("whole", "end"), ("whole", "else")]),
        ("{{ $x }}{{ $ }}", [("variable", "$x"), ("variable", "$")]),
        ('{{ "a\\"b" }}{{ `raw` }}', [("string", '"a\\"b"'), ("raw", "`raw`")]),
        ("{{ 'a' }}{{ '\\'' }}", [("rune", "'a'"), ("rune", "'\\''")]),
        (
            "{{ 1 }}{{ -2 }}{{ 0x1F }}{{ 1e3 }}{{ .5 }}",
            [("number", n) for n in ("1", "-2", "0x1F", "1e3", ".5")],
        ),
        ("{{ 1+2i }}", [("complex", "1+2i")]),
        ("{{ true }}{{ nil }}{{ if }}", [("bool", "true"), ("nil", "nil"), ("if", "if")]),
        ("{{ $x := 1 }}", [("variable", "$x"), (":=", ":="), ("number", "1")]),
        (
            "{{ (a|b), }}",
            [("(", "("), ("identifier", "a"), ("|", "|"), ("identifier", "b"), (")", ")"), ("char", ",")],
        ),
        ("{{ größe }}", [("identifier", "größe")]),
        ("{{ .größe }}", [("field", ".größe")]),
        ("{{ . | f }}", [("dot", "."), ("|", "|"), ("identifier", "f")]),
    ],
)
def test_tokens_inside_an_action(source: str, expected: list[tuple[str, str]]) -> None:
    assert words(source) == expected


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("a \n{{- 1 }} b", ["a", " b"]),
        ("a {{ 1 -}} \t\n b", ["a ", "b"]),
        ("a {{- /* note */ -}} b", ["a", "b"]),
        ("a \u00a0{{- 1 }}", ["a \u00a0"]),
        ("{{-3}} x", [" x"]),
    ],
)
def test_trim_markers_cut_ascii_blanks_only(source: str, texts: list[str]) -> None:
    assert [text for kind, text in tokens(source) if kind == "text"] == texts


def test_custom_delimiters_leave_the_usual_ones_alone() -> None:
    assert tokens("{{ a }}[[ .b ]]", delims_of("[[", "]]"))[:2] == [("text", "{{ a }}"), ("whole", ".b")]


def test_an_empty_delimiter_is_the_usual_one() -> None:
    assert delims_of("", "") == Delims("{{", "}}")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("{{", "unclosed action"),
        ("{{ .x", "unclosed action"),
        ("{{ (1 }}", "unclosed left paren"),
        ("{{ 1) }}", "unexpected right paren"),
        ('{{ "a }}', "unterminated quoted string"),
        ("{{ `a }}", "unterminated raw quoted string"),
        ("{{ 'a }}", "unterminated character constant"),
        ("{{ : }}", "expected :="),
        ("{{ .x! }}", "bad character U+0021 '!'"),
        ("{{ $x-1 }}", "bad character U+002D '-'"),
        ("{{ 1x }}", 'bad number syntax: "1x"'),
        ("{{ 1+2 }}", 'bad number syntax: "1+2"'),
        ("{{ \x01 }}", "unrecognized character in action: U+0001"),
        ("{{ \udcff }}", "unrecognized character in action: U+FFFD '\ufffd'"),
        ("{{/* a", "unclosed comment"),
        ("{{/* a */-}}", "comment ends before closing delimiter"),
    ],
)
def test_what_is_no_token_is_an_error_in_gos_words(source: str, error: str) -> None:
    assert tokens(source)[-1] == ("error", error)


def test_a_source_with_too_many_commands_is_cut_off() -> None:
    assert tokens("{{ 1 }}" * (MAX_COMMANDS + 1))[-1][0] == "error"


def test_runes_are_described_as_go_does() -> None:
    assert [describe_rune(char) for char in ("a", "\n", "😀", "")] == [
        "U+0061 'a'",
        "U+000A",
        "U+1F600 '😀'",
        "U+FFFFFFFFFFFFFFFF",
    ]
