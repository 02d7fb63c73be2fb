"""JSON, base64, regular expressions, versions, URLs, paths and digests, through templates."""

import pytest

from steward.gotemplate import ExecError, parse


def render(source: str, **data: object) -> str:
    return parse(source).render(data)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('{{ toJson (dict "b" 1 "a" "<") }}{{ toRawJson "<" }}', '{"a":"\\u003c","b":1}"<"'),
        ('{{ fromJson "[1,2" }}{{ (fromJson "{\\"a\\":1}").a }}', "map[]1"),
        ('{{ b64enc "é" }}{{ b64dec "w6k=" }}{{ b32enc "a" }}{{ b32dec "ME======" }}', "w6k=éME======a"),
        ('{{ b64dec "!" }}', "illegal base64 data at input byte 0"),
        (
            '{{ regexMatch "(" "x" }}{{ regexFind "b+" "abb" }}{{ regexFindAll "z" "a" -1 | toJson }}',
            "falsebbnull",
        ),
        (
            '{{ regexReplaceAll "a(b)" "ab" "${1}x" }}{{ regexReplaceAllLiteral "a" "a" "$1" }}',
            "bx$1",
        ),
        (
            '{{ semverCompare "^1.2" "1.9.0" }}{{ (semver "v1.2.3").IncMinor }}{{ (semver "1.2.3").Major | typeOf }}',
            "true1.3.0uint64",
        ),
        ('{{ eq (semver "1") (semver "1") }}', "false"),
        (
            '{{ (urlParse "http://h:1/p").hostname }}{{ urlJoin (dict "host" "h" "path" "a b") }}',
            "h//h/a%20b",
        ),
        (
            '{{ base "a/b.c" }}{{ osDir "a/b" }}{{ ext "a.b" }}{{ clean "a//b" }}{{ isAbs "/" }}',
            "b.ca.ba/btrue",
        ),
        ('{{ sha1sum "" | trunc 6 }}{{ adler32sum "abc" }}', "da39a338600999"),
        (
            '{{ toHost "https://u@h.x:8443/p?q=%41" }} {{ toHost "h.x:80/p" }} {{ toHost "h/p" }}',
            "h.x h.x h/p",
        ),
        (
            '[{{ toHost "http://:80" }}] [{{ toHost "http://:80/p" }}] [{{ toHost "mailto:x" }}]',
            "[] [] [mailto]",
        ),
        ('{{ trunc63 (repeat 70 "x") | len }}{{ trunc63 "ab" }}', "63ab"),
        (
            '{{ derivePassword 1 "nope" "p" "u" "s" }}{{ decryptAES "k" "" }}',
            "cannot find password template nope",
        ),
        ('{{ decryptAES "secretkey" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=" }}', "plaintext"),
    ],
)
def test_results(source: str, text: str) -> None:
    assert render(source) == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('{{ regexFind "(" "x" }}', "regexp: Compile(`(`): error parsing regexp: missing closing ): `(`"),
        (
            '{{ mustRegexFind "(" "x" }}',
            "error calling mustRegexFind: error parsing regexp: missing closing ): `(`",
        ),
        ('{{ mustFromJson "x" }}', "invalid character 'x' looking for beginning of value"),
        ("{{ mustToJson 1i }}", "json: unsupported type: complex128"),
        ('{{ semver "x" }}', "error calling semver: Invalid Semantic Version"),
        ('{{ semverCompare "" "1" }}', "improper constraint: "),
        ('{{ urlParse ":" }}', 'unable to parse url: parse ":": missing protocol scheme'),
        ('{{ urlJoin (dict "host" 1) }}', "unable to parse host key, must be of type string, but int found"),
        ('{{ decryptAES "k" "YWJj" }}', "runtime error: slice bounds out of range [:16] with capacity 3"),
    ],
)
def test_failures_have_go_words(source: str, words: str) -> None:
    with pytest.raises(ExecError) as caught:
        render(source)
    assert str(caught.value).endswith(words)
