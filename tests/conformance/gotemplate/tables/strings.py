"""Strings are bytes in Go: most surprises live where a function counts, cuts or changes case."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import STRINGS, actions, call, grid

WORDS = [
    '"HelloWorld"', '"hello_world"', '"hello-world"', '"HTTPServer"', '"httpServerV2"', '"foo bar baz"', '"Foo-Bar_baz qux"',
    '"ABC"', '"aBC"', '"ab12cd"', '"12ab"', '"v1.2.3"', '"__init__"', '"--x--"', '"a  b"', '"É Été"', '"straße"', '"ǆ"',
    '"日本 go"', '"FOO"', '"fooBAR"', '"foo.bar"', '"_"', '"-"', '" lead"', '"trail "', '"X"', '"aA1B2"', '"ID"', '"userID"',
    '"user_ID_2"', '"don\'t stop"', '"one\\ttwo\\nthree"', '(b64dec "/2FC/w==")', '"a\\u0301b"', '"İıſK"', '""',
    '"Ab Cd"', '"sample_text"', '"some sample text"', '"test_2_fast"', '"HTTP20xOK"', '"LIKE_THIS"', '"A1b2C3"',
]  # fmt: skip
WIDTHS = ["-5", "-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "10", "11", "100"]
CASED = [
    "upper",
    "lower",
    "title",
    "untitle",
    "swapcase",
    "camelcase",
    "snakecase",
    "kebabcase",
    "initials",
    "nospace",
]
BAD_BYTES = [
    '(trunc 2 "é日")',
    '(trunc 4 "日本")',
    '(b64dec "/w==")',
    '(b64dec "4pyT/w==")',
    '(substr 1 3 "éa")',
]


def cases() -> Iterator[Case]:
    for name in CASED:
        yield from call(name, [*WORDS, *STRINGS])
    for name in (
        "trim",
        "quote",
        "squote",
        "toString",
        "len",
        "sha256sum",
        "b64enc",
        "regexQuoteMeta",
        "html",
        "js",
        "urlquery",
    ):
        yield from call(
            name, [*STRINGS, *BAD_BYTES, ".html", ".ml", '"a\\u2028b"', '"\\x00\\x07\\x7f"', '"\\U0001F600"']
        )
    yield from _cutting()
    yield from _searching()
    yield from _wrapping()
    yield from actions("strings", MORE)


def _cutting() -> Iterator[Case]:
    yield from call("trunc", WIDTHS, [".s", ".u", '""'])
    yield from call("abbrev", WIDTHS, [".s", ".u", '"abcd"'])
    yield from call(
        "abbrevboth",
        ["-1", "0", "1", "4", "5", "8"],
        ["0", "4", "6", "7", "8", "10", "20"],
        [".s", ".u", '"abcdefghijklmnop"'],
    )
    yield from call("substr", ["-1", "0", "2", "5", "12"], ["-1", "0", "3", "5", "99"], [".s", ".u"])
    yield from call(
        "trim", ['" \\t\\r\\n\\v\\f a \\u00a0\\u2003"', '"\\u200b a"', '"\\u0085a\\u3000"', ".pad"]
    )
    cutsets = ['""', '"h"', '"hd"', '"✓日"', '"he"', '"lo wrd"']
    for name in ("trimAll", "trimall", "trimPrefix", "trimSuffix"):
        yield from call(name, [*cutsets, '"hello"', '"world"', '"日本"'], [".s", ".u", '""', '"hehehe"'])
    for name in ("indent", "nindent"):
        yield from call(name, ["0", "1", "2", "4"], [".ml", ".s", '""', '"\\n"', '"a\\r\\nb\\n"'])
    yield from actions("indent", "indent -1 .s\nnindent -1 .s\nindent 2 .ml | quote\n.ml | nindent 3 | quote")
    yield from call("repeat", ["0", "1", "3"], STRINGS)
    yield from actions("repeat", 'repeat -1 "a"\nrepeat -1 ""\nrepeat 3 ""\nrepeat (len "abc") "é"')


def _searching() -> Iterator[Case]:
    needles = ['""', '"h"', '"lo w"', '"world"', '"✓"', '"WORLD"', '"日本"']
    for name in ("contains", "hasPrefix", "hasSuffix"):
        yield from call(name, needles, [".s", ".u", '""'])
    yield from call("replace", ['""', '"l"', '"o w"', '"é"'], ['""', '"X"', '"日"'], [".s", ".u", '""'])
    separators = ['""', '","', '"o"', '"lo"', '"日"']
    for name in ("split", "splitList"):
        yield from call(name, separators, [".s", ".u", '""', '",a,,b,"'])
    yield from call("splitn", separators, ["-1", "0", "1", "2", "9"], [".u", '",a,,b,"', '""'])
    yield from grid("split", '(split "," "a,b,c,d,e,f,g,h,i,j,k").{0}', ["_0", "_2", "_10", "_11", "x"])
    yield from call("plural", ['"one"'], ['"many"', '""'], ["-1", "0", "1", "2", "(len .list)"])
    yield from call(
        "cat", ['"a"', ".null", ".n", '""'], ['" b "', ".list", ".m", "nil"], ["true", '(dict "x" nil)']
    )
    yield from call(
        "join",
        ['""', '","', '"é"'],
        [".list", ".mixed", ".el", ".s", ".n", ".null", ".m", "(until 3)", "(list nil 1)"],
    )
    yield from call(
        "toStrings", [".list", ".mixed", ".el", ".s", ".n", ".null", ".m", "(until 3)", "(list nil 1)"]
    )


def _wrapping() -> Iterator[Case]:
    texts = [
        ".s",
        ".u",
        ".ml",
        '"the quick brown fox jumps over"',
        '"supercalifragilistic word"',
        '""',
        '"  two  spaces  "',
        '"a b"',
    ]
    yield from call("wrap", ["-1", "0", "1", "3", "5", "10", "80"], texts)
    yield from call("wrapWith", ["0", "3", "7"], ['""', '"|"', '"\\n\\t"'], texts)


MORE = r"""
cat
cat "a"
cat "%d" 1
cat "a%" "b"
quote
quote "a" 1 nil .null "b"
quote .list .m 1.5 (list "a" nil) true
squote
squote "it's" 1 nil .null
squote .list .m
.s | upper | quote | b64enc
"\"quoted\" \\ back" | quote
"tab\tnl\n\r\a\b\f\v\x01\x7f" | quote
"é✓\u200b\u00a0\ufeff\U0010ffff" | quote
(trunc 1 "é") | quote
(trunc 1 "é") | squote
(trunc 3 "aé") | upper
(trunc 1 "é") | lower
(trunc 1 "é") | title
(trunc 1 "é") | swapcase
(trunc 1 "é") | nospace
(trunc 1 "é") | initials
(trunc 1 "é") | snakecase
(trunc 1 "é") | kebabcase
(trunc 1 "é") | camelcase
(trunc 1 "é") | untitle
(trunc 1 "é") | trim
(trunc 1 "é") | toJson
(trunc 1 "é") | html
(trunc 1 "é") | js
(trunc 1 "é") | urlquery
(trunc 1 "é") | printf "%q %x %v %s %+q %#v"
(trunc 1 "é") | len
(trunc 1 "é") | abbrev 5
(trunc 4 "日本") | replace "日" "x" | quote
print (trunc 1 "é") (substr 1 2 "é")
contains (trunc 1 "é") "é"
hasPrefix (trunc 1 "é") "é"
trimPrefix (trunc 1 "é") "é" | quote
trimAll (trunc 1 "é") "é" | quote
splitList "" (trunc 4 "日本") | printf "%q"
splitList (trunc 1 "é") "aéb" | printf "%q"
replace "" "-" (trunc 4 "日本") | printf "%q"
regexReplaceAll "." (trunc 4 "日本") "x" | printf "%q"
"it's o'clock" | title
"hello wOrLd" | title
"ǆ ß ŉ ﬁ" | title
"ß ŉ ﬁ İ ı ſ K Å" | upper
"ẞ İ I Σ ΑΣ K Å" | lower
"hello\u00a0there-you 1st" | title
"a\u2003b\tc" | initials
"First Try" | initials
"  first  try " | initials
"a b\tc\nd\u00a0e" | nospace
"hello" | untitle
"Hello World" | untitle
"éA" | untitle
"ÉA bC" | untitle
"aBc dEf" | swapcase
"éÉ ß" | swapcase
wrap 5 "a\nbb ccc dddd eeeee ffffff"
wrap 2 "日本語 テキスト"
wrapWith 3 "" "abcdefgh ij"
wrapWith 5 "\n" "日本語テキスト"
wrap 10 (repeat 3 "abcdefg ")
abbrev 5 "héllo wörld"
abbrev 7 "日本語テキスト"
abbrevboth 5 10 "1234 5678 9123"
abbrevboth 4 9 "日本語テキスト"
substr 0 1 "é"
substr 5 3 "hello"
substr 7 9 "hello"
substr -1 9 "hello"
substr -1 -1 "hello"
trunc -3 "héllo"
trunc -300 "héllo"
"a" | trunc 0 | quote
trunc63 (repeat 70 "a")
trunc63 (repeat 21 "日é")
trunc63 (repeat 40 "日")
toStrings (list 1 2.5 nil "a" true (list 1) (dict "a" 1))
toStrings (splitList "," "a,b") | printf "%T"
sortAlpha "b" | printf "%T %v"
hello
hello 1
toString (list 1 "a" nil)
toString (dict "b" 1 "a" nil)
toString 1000000.0
toString .million
toString (toDate "2006" "2024")
toString nil
nil | toString
quote 'a' 1000000.0 .big
.null | quote
.null | toString
.null | cat "a"
(first .el) | quote
(first .el) | toString
atoi "12" | add 1
atoi "x"
atoi "0x1f"
atoi "1e3"
atoi " 1"
atoi "9223372036854775808"
atoi "-9223372036854775808"
atoi "+5"
atoi "1_000"
"""
