"""Go's regexp over RE2."""

import pytest

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.regexp.regexp import PatternTooLarge, compile_panic, compile_regexp, quote_meta
from steward.gotemplate.golang.regexp.syntax import translate


@pytest.mark.parametrize(
    ("pattern", "why", "where"),
    [
        ("a(", "missing closing )", "a("),
        ("a)", "unexpected )", "a)"),
        ("[a", "missing closing ]", "[a"),
        ("a**", "invalid nested repetition operator", "**"),
        ("*a", "missing argument to repetition operator", "*"),
        ("(?i)*", "missing argument to repetition operator", "*"),
        ("a{1001}", "invalid repeat count", "{1001}"),
        ("a{" + "9" * 5000 + "}", "invalid repeat count", "{" + "9" * 5000 + "}"),
        ("(a{100}){11}", "invalid repeat count", "{11}"),
        ("[z-a]", "invalid character class range", "z-a"),
        ("[[:foo:]]", "invalid character class range", "[:foo:]"),
        (r"\p{Old_Italic}", "invalid character class range", r"\p{Old_Italic}"),
        (r"\8", "invalid escape sequence", r"\8"),
        (r"\C", "invalid escape sequence", r"\C"),
        ("\\", "trailing backslash at end of expression", ""),
        ("(?=a)", "invalid or unsupported Perl syntax", "(?="),
        ("(?P<n!>a)", "invalid named capture", "(?P<n!>"),
        ("a\udcff", "invalid UTF-8", "\udcff"),
        ("(" * 1001 + ")" * 1001, "expression nests too deeply", "(" * 1001 + ")" * 1001),
    ],
)
def test_a_bad_pattern_is_refused_in_go_words(pattern: str, why: str, where: str) -> None:
    with pytest.raises(GoError) as caught:
        compile_regexp(pattern)
    assert caught.value.text == f"error parsing regexp: {why}: `{where}`"


def test_what_goes_to_the_engine_is_plain_ascii_without_names() -> None:
    assert translate("(?i)(?P<n>é)(?P<n>b)?") == (r"((?i:\x{E9}))(?:((?i:b)))?", ("", "n", "n"))


@pytest.mark.parametrize(
    ("pattern", "text", "count", "found"),
    [
        ("a*", "baac", -1, ["", "aa", ""]),
        ("a", "aaa", 2, ["a", "a"]),
        ("a", "aaa", 0, []),
        (".", "é\udcff", -1, ["é", "\udcff"]),
        ("\ufffd", "\udcff\udcfe", -1, ["\udcff", "\udcfe"]),
        (r"\B", "hé", -1, [""]),
        (r"\p{letter}+", "aé1", -1, ["aé"]),
        ("(?U)a+", "aa", -1, ["a", "a"]),
    ],
)
def test_all_matches_are_found_by_go_rules(pattern: str, text: str, count: int, found: list[str]) -> None:
    assert compile_regexp(pattern).find_all(text, count) == found


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("$1W", "on  x"),
        ("${1}W", "on 2020W x"),
        ("$$1", "on $1 x"),
        ("$m/$year", "on 01/2020 x"),
        ("${m", "on ${m x"),
        ("$01", "on  x"),
        ("$0$", "on 2020-01$ x"),
    ],
)
def test_references_in_the_replacement_are_expanded(template: str, text: str) -> None:
    regexp = compile_regexp(r"(?P<year>\d{4})-(?P<m>\d\d)")
    assert regexp.replace_all("on 2020-01 x", template) == text


def test_an_empty_pattern_replaces_between_all_runes() -> None:
    assert compile_regexp("").replace_all_literal("aé", "-") == "-a-é-"


@pytest.mark.parametrize(
    ("pattern", "text", "count", "pieces"),
    [
        (",", "a,b,c", -1, ["a", "b", "c"]),
        (",", "a,b,c", 2, ["a", "b,c"]),
        (",", "a", 0, None),
        ("a", "", -1, [""]),
    ],
)
def test_splitting(pattern: str, text: str, count: int, pieces: list[str] | None) -> None:
    found = compile_regexp(pattern).split(text, count)
    assert (found and found.texts) == pieces


def test_the_spender_hears_of_every_search() -> None:
    heard: list[int] = []
    compile_regexp("a").find_all("aaa", -1, heard.append)
    assert len(heard) == 4


def test_a_program_too_large_for_a_template_is_refused() -> None:
    with pytest.raises(PatternTooLarge):
        compile_regexp(r"\pL{1000}\pL{1000}")


def test_a_panic_quotes_the_pattern() -> None:
    assert compile_panic("a(", "oops") == "regexp: Compile(`a(`): oops"
    assert compile_panic("`", "oops") == 'regexp: Compile("`"): oops'


def test_operators_are_escaped() -> None:
    assert quote_meta("a.b[c]") == r"a\.b\[c\]"


def test_what_is_cut_from_bytes_that_are_no_utf8_is_those_bytes() -> None:
    regexp = compile_regexp("b(.)(é?)")
    assert regexp.find_all("a\udcffb\udcfeéb\udcfd", -1) == ["b\udcfeé", "b\udcfd"]
    assert regexp.find_all_groups("\udcffb\udcfeé") == [["b\udcfeé", "\udcfe", "é"]]
    assert (
        regexp.replace_all("\udcffb\udcfeé", "$2$1$0", lambda _: None, lambda _: None)
        == "\udcffé\udcfeb\udcfeé"
    )
