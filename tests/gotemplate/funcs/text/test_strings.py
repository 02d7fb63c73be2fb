"""sprig's string functions, through templates."""

import pytest

from steward.gotemplate import BudgetExceeded, ExecError, parse


def render(source: str, **data: object) -> str:
    return parse(source).render(data)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{{ trunc 2 "é!" }}{{ trunc -1 "abc" }}', "éc"),
        ('{{ trunc 1 "é" | len }}', "1"),
        ('{{ substr 1 -1 "hello" }}', "ello"),
        ('{{ abbrev 3 "hello" }}{{ abbrev 5 "hello!" }}', "hellohe..."),
        ('{{ trimAll "$" "$5$" }}{{ trimPrefix "-" "-x" }}{{ trimSuffix "-" "x-" }}', "5xx"),
        ('{{ contains "\\xa9" "é" }}', "true"),
        ('{{ replace "" "-" "ab" }}', "-a-b-"),
        ('{{ indent 2 "a\\nb" }}{{ nindent 1 "c" }}', "  a\n  b\n c"),
        (
            '{{ cat 1 nil "b" 2.5 }}|{{ quote 1 nil "a\\"b" }}|{{ squote "x" nil }}',
            '1 b 2.5|"1" "a\\"b"|\'x\'',
        ),
        ('{{ join "-" (list 1 nil "b") }}', "1-b"),
        ('{{ (split "/" "a/b")._1 }} {{ splitn "/" 2 "a/b/c" }}', "b map[_0:a _1:b/c]"),
        ('{{ splitList "" "aé" | toJson }}', '["a","é"]'),
        ('{{ sortAlpha (list 3 "b" nil "a") }}', "[3 a b]"),
        ('{{ plural "one" "many" 1 }}{{ hello }}{{ repeat 2 "ab" }}', "oneHello!abab"),
        ('{{ toString (list 1 "a") }}{{ toStrings 5 | toJson }}', '[1 a]["5"]'),
    ],
)
def test_results(source: str, text: str) -> None:
    assert render(source) == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{{ repeat -1 "x" }}', "strings: negative Repeat count"),
        ('{{ indent -1 "x" }}', "strings: negative Repeat count"),
        ('{{ substr 5 2 "hello" }}', "runtime error: slice bounds out of range [5:2]"),
        ('{{ substr -1 9 "hello" }}', "runtime error: slice bounds out of range [:9] with length 5"),
        ('{{ fail "no way" }}', "no way"),
    ],
)
def test_panics_have_go_words(source: str, words: str) -> None:
    with pytest.raises(ExecError) as caught:
        render(source)
    assert str(caught.value).endswith(f": {words}")


@pytest.mark.parametrize(
    "source",
    [
        '{{ repeat 1000000000 "x" }}',
        '{{ indent 1000000000 "x" }}',
        "{{ until 1000000000 }}",
        "{{ seq 1 1000000000 }}",
        '{{ replace "" (repeat 5000 "y") (repeat 5000 "x") }}',
        '{{ wrapWith 1 (repeat 5000 "y") (repeat 5000 "x") }}',
        '{{ join (repeat 100000 "x") (until 1000) }}',
        '{{ regexReplaceAll "" (repeat 5000 "x") (repeat 5000 "y") }}',
        '{{ $d := dict }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toJson $d }}',
        '{{ $d := dict }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ deepCopy $d }}',
        "{{ $d := list }}{{ range until 60 }}{{ $d = list $d $d }}{{ end }}{{ toString $d }}",
        '{{ regexMatch "\\\\pL{1000}\\\\pL{1000}" "x" }}',
        '{{ regexMatch (repeat 9000 "a") "x" }}',
        '{{ range until 100000 }}{{ regexMatch "a" "b" }}{{ end }}',
        '{{ snakecase (repeat 1000000 "aB") }}',
    ],
)
def test_what_would_grow_without_end_meets_the_budget(source: str) -> None:
    with pytest.raises(BudgetExceeded):
        render(source)


def test_sorting_a_list_of_strings_sorts_the_list_itself() -> None:
    assert render('{{ $l := splitList "," "c,b,a" }}{{ $_ := sortAlpha $l }}{{ $l }}') == "[a b c]"
    assert render('{{ $l := list "c" "b" }}{{ $_ := sortAlpha $l }}{{ $l }}') == "[c b]"
    assert (
        render('{{ $l := splitList "," "c,b,a" }}{{ $_ := sortAlpha (slice $l 0 2) }}{{ $l }}') == "[b c a]"
    )
