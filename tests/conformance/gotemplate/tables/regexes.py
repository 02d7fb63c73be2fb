"""RE2's syntax, its refusals in its own words, replacement expansion, splitting."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, grid

PATTERNS = [
    "", "a", "a+", "a*", "a?", "a*?", "[a-c]+", "[^a]", "(a)(b)?", "(?P<x>a)(?P<y>b)", "(?<x>a)", "^a", "a$", "^", "$", "\\\\bfoo\\\\b", "\\\\d+", "\\\\w+", "\\\\s+",
    "\\\\D", "(?i)FOO", "(?s).", "(?m)^b", "(?U)a+", "a{2}", "a{2,}", "a{,2}", "a{1,3}", "\\\\p{Greek}", "\\\\p{L}+", "\\\\pL", "[[:alpha:]]+", "[[:^digit:]]", "\\\\x61", "\\\\x{65e5}",
    "é+", ".", "日.", "a|b|", "(a|ab)(c|bcd)", "\\\\Aa", "a\\\\z", "\\\\Qa.b\\\\E", "(?:a)b", "\\\\.", "[.]", "\\\\n", "x*", "(?i)É", "[a-z0-9-]+", "\\\\B", "\\\\C", "[\\\\d-]", "\\\\pN",
    "(?i:a)b", "foo|bar",
]  # fmt: skip
BAD = [
    "(", ")", "[", "a**", "*", "+", "?", "a{2}{3}", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "\\\\1", "(a)\\\\1", "\\\\8", "[z-a]", "a{1001}", "a{2,1}", "(?P<x", "(?P<x>a)(?P<x>b)", "(?P<1>a)", "\\\\",
    "\\\\y", "(?z)", "\\\\p{Nope}", "[[:nope:]]", "\\\\x{110000}", "\\\\xg", "a++", "a*+", "(?>a)", "\\\\Z", "[a", "(a", "a)", "(?i", "x{1000}{1000}", "\\\\G", "\\\\K", "(?#c)", "a{3", "[]", "[^]", "\\\\E", "\\\\pX", "(?P=x)", "(?P>x)",
    "((((((((((x{2}){2}){2}){2}){2}){2}){2}){2}){2}){2})", "(?i)(?-i", "\\\\Q(", "a{99999}", "(|a)*", "(?:)*", "\\\\u1234", "\\\\h",
]  # fmt: skip
SUBJECTS = ['"aab foo\\nb ΑΒΓ é日本 a.b 12"', '""']
REPLACEMENTS = [
    '"-"',
    '"[$0]"',
    '"${1}x"',
    '"$1x"',
    '"$x$y"',
    '"${x}-${y}"',
    '"$$"',
    '"$"',
    '"${"',
    '"${}"',
    '"$9"',
    '"\\\\1"',
    '"${1"',
    '"$1-$2"',
    '"é$1"',
]


def cases() -> Iterator[Case]:
    patterns = [f'"{p}"' for p in PATTERNS]
    bad = [f'"{p}"' for p in BAD]
    yield from call("regexMatch", [*patterns, *bad], SUBJECTS[:1])
    yield from call("mustRegexMatch", [*patterns, *bad], SUBJECTS[:1])
    yield from call("regexFind", [*patterns, *bad], SUBJECTS[:1])
    for name in ("mustRegexFind", "mustRegexFindAll", "mustRegexSplit"):
        yield from grid(name, f'{name} {{0}} "aab"' + (" -1" if name != "mustRegexFind" else ""), bad[:24])
    yield from grid("mustRegexReplaceAll", 'mustRegexReplaceAll{0} {1} "aab" "x"', ["", "Literal"], bad[:12])
    yield from grid(
        "regexFindAll", 'regexFindAll {0} {1} {2} | printf "%q"', patterns, SUBJECTS[:1], ["-1", "2"]
    )
    yield from grid("regexSplit", 'regexSplit {0} {1} {2} | printf "%q"', patterns, SUBJECTS[:1], ["-1", "3"])
    yield from call("regexReplaceAll", patterns, SUBJECTS, ['"<$0>"'])
    yield from call(
        "regexReplaceAll", ['"(a)(b)?"', '"(?P<x>a)(?P<y>b)"', '"a*"'], SUBJECTS[:1], REPLACEMENTS
    )
    yield from call(
        "regexReplaceAllLiteral",
        ['"(a)(b)?"', '"a*"', '"é|日"', '""'],
        SUBJECTS,
        ['"$1"', '"${0}"', '"x"', '""'],
    )
    yield from call("regexQuoteMeta", ['"a.b*c[d]e(f)^$|\\\\+?{}"', '"é日"', '""', '"a-b/c"'])
    yield from actions("regexes", MORE)


MORE = r"""
regexFindAll "a" "aaa" 0 | toJson
regexFindAll "a" "aaa" 1 | toJson
regexFindAll "z" "aaa" -1 | toJson
regexFindAll "a" "aaa" -1 | len
regexFindAll "[aeiou]" "hello world" 2
regexFindAll "a" "aaa"
regexFindAll "a" 1 1
regexSplit "z+" "pizza" -1
regexSplit "a" "banana" 0 | toJson
regexSplit "a" "banana" 1 | toJson
regexSplit "a" "banana" 2 | toJson
regexSplit "" "héy" -1 | toJson
regexSplit "" "" -1 | toJson
regexSplit "a" "" -1 | toJson
regexSplit "a*" "baaac" -1 | toJson
regexSplit "(a)" "banana" -1 | toJson
regexSplit "^" "ab" -1 | toJson
regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W"
regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W"
regexReplaceAll "" "abc" "-"
regexReplaceAll "x*" "abc" "-"
regexReplaceAll "x*" "日本" "-"
regexReplaceAll "b*" "abba" "-"
regexReplaceAll "$" "a\nb" "!"
regexReplaceAll "(?m)$" "a\nb" "!"
regexReplaceAll "^" "ab" ">"
regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "${1}"
regexReplaceAll "(.)(.)" "abcd" "$2$1"
regexReplaceAll "(?P<first>\\w+) (?P<second>\\w+)" "hello world" "$second $first"
regexReplaceAll "[^a-z0-9]+" .s "-"
regexReplaceAll "\\W+" .u "_"
regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" "my-name"
regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" "My-name"
regexFind "[a-zA-Z][1-9]" "abcd1234"
regexFind "z" "abc" | quote
regexFind "(a)(b)" "xab"
regexMatch "(" "a"
regexFind "(" "a"
regexFindAll "(" "a" 1
regexReplaceAll "(" "a" "b"
regexReplaceAllLiteral "(" "a" "b"
regexSplit "(" "a" 1
regexMatch "(?=x)" "x"
mustRegexMatch "a{1001}" "a"
regexMatch "a{1000}" "a"
regexMatch "\\pL" "é"
regexMatch "^\\w+$" "é"
regexMatch "(?i)straße" "STRASSE"
regexMatch "(?i)k" "K"
regexMatch "(?i)ſ" "S"
regexFind "." (trunc 1 "é") | quote
regexFindAll "." (trunc 4 "日本") -1 | printf "%q"
regexReplaceAll "\\x{FFFD}" (trunc 1 "é") "bad"
regexMatch (trunc 1 "é") "é"
mustRegexMatch (trunc 1 "é") "é"
regexFind (b64dec "/w==") "a"
"""
