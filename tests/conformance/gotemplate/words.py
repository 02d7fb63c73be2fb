"""The fuzzer's vocabulary: literals by kind, text between actions, tokens that break things, and random JSON."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

PLAIN_KINDS = [
    "str",
    "int",
    "float",
    "bool",
    "list",
    "dict",
    "any",
    "num",
    "seq",
    "time",
    "ver",
    "strs",
    "ints",
    "smap",
]

_STRINGS = [
    '""', '"a"', '"abc"', '"Hello World"', '"foo_bar-baz"', '"a,b,c"', '"1"', '"42"', '"-3.5"', '"true"', '"é✓日本"', '"  x "', '"a\\nb\\tc"', "`raw`", "`r\nw`", '"<b>&\'\\""', '"0x1f"', '"010"', '"/a/b.c"', '"k"',
    '"fooBarBaz2"', '"HTTPServer"', '"\\u00e9"', '"ß"', '"%s %d"', '"\\xff"', '"l"', '"o"', '"s"', '"The quick brown fox"', '(trunc 1 "é")', '"😀"', '"1e3"',
]  # fmt: skip
_INTS = [
    "0",
    "1",
    "2",
    "-1",
    "7",
    "42",
    "100",
    "-17",
    "0x1f",
    "017",
    "0b11",
    "1_000",
    "'a'",
    "9223372036854775807",
    "-9223372036854775808",
    "3000000000",
    "'é'",
]
_FLOATS = [
    "0.0",
    "1.0",
    "2.5",
    "-0.5",
    "1e6",
    "1e21",
    "1e-7",
    "3.14159",
    "100.0",
    "1234567.891",
    "0.1",
    "-1e20",
    "2.0",
    "1e300",
    "0.5",
]
_LISTS = [
    "(list 1 2 3)",
    "(list)",
    '(list "b" "a")',
    '(list 1 "a" nil 2.5 true)',
    '(list (list 1) (dict "k" 1))',
    '(list "" 0 nil "x")',
    "(rest (list))",
]
_DICTS = [
    "(dict)",
    '(dict "a" 1)',
    '(dict "a" "x" "b" (dict "c" 2))',
    '(dict "k" nil "l" (list 1))',
    '(dict "s" "str" "n" 2.5)',
    '(dict "scheme" "https" "host" "h:1" "path" "/p")',
]
_FORMATS = [
    '"%v"', '"%s"', '"%d"', '"%q"', '"%x"', '"%5d|"', '"%-8s|"', '"%08.3f"', '"%+v"', '"%#v"', '"%T"', '"%t"', '"%e"', '"%g"', '"%c"', '"%U"', '"%b"', '"%o"', '"%X"', '"%6.2f"', '"%v-%v"', '"%s=%d"', '"%[2]v %[1]v"', '"%*d"', '"%%"', '"%!"', '"%"',
    '"%z"', '"%.2s"', '"%-5t|"', '"%+d"', '"% d"', '"%#x"', '"% x"', '"%.3g"', '"%#q"', '"%+q"', '"%G"', '"%O"', '"%05d"', '"%.1f|%v"', '"x"', '"%3c|"', '"%10v|"', '"%-10v|"', '"%.0f"', '"%E"', '"%#o"', '"%w"', '"%6v|%06v"', '"%[1]d %[1]T"', '"%.*f"', '"%[5]d"',
    '"%-+7.2f|"', '"%+.3e"', '"%#.3x"', '"% X"', '"%+U"', '"%#U"', '"%08b"', '"%x|%X"', '"%8q|"', '"%.2q"', '"%t|%v"', '"%+x"', '"%#v|%+v"', '"%#08x"', '"%+08d"', '"% 5d"', '"%010s"', '"%-010d|"',
]  # fmt: skip
_PATTERNS = [
    '"a"', '"[a-z]+"', '"(\\\\w)(\\\\d)?"', '"^.*$"', '"\\\\s+"', '"[^a-z0-9]+"', '""', '"o|l"', '"(?i)B"', '"("', '"a**"', '"(?=a)"', '"\\\\pL+"', '"."', '"x*"', '"b{2,1}"', '"(?P<n>.)"', '"[[:upper:]]"', '"\\\\bfoo"', '"$"', '"é+"', '"(a|b)+?"', '"\\\\d{1,3}"', '"[z-a]"', '"\\\\1"', '"(?s).+"', '"(?U)a+"',
]  # fmt: skip
_LAYOUTS = [
    '"2006-01-02"',
    '"2006-01-02T15:04:05Z07:00"',
    '"Jan 2, 2006 at 3:04pm (MST)"',
    '"Mon Jan _2 15:04:05.000 2006"',
    '"02/01/06"',
    '"15h04"',
    '"x"',
    '"2006-002"',
    '"Monday -0700"',
    '".999"',
    '"3:4:5 PM"',
]
_TIMES = [
    '(toDate "2006-01-02" "2024-02-29")', '(toDate "2006-01-02 15:04:05" "1999-12-31 23:59:59")', '(toDate "2006" "x")', '(toDate "2006-01-02T15:04:05Z07:00" "2024-07-01T12:30:00+02:00")', '(toDate "2006-01-02" "1969-07-20")',
]  # fmt: skip
_VERSIONS = ['"1.2.3"', '"v2.0"', '"1.2.3-alpha.1+b"', '"0.1.0"', '"x"', '"1"', '"10.0.0-rc1"', '"1.02.3"']
_RANGES = [
    '">=1.0"',
    '"^1.2"',
    '"~1.2.3"',
    '"1.x"',
    '">1 <3"',
    '"=1.2.3"',
    '"!=2"',
    '"1.0 - 2.0"',
    '"<1 || >=2"',
    '""',
    '"abc"',
    '">=1.2.3-0"',
    '"*"',
    '"^0.1"',
]
_JSONS = [
    '"{\\"a\\":1,\\"b\\":[true,null]}"',
    '"[1,2.5,\\"x\\"]"',
    '"null"',
    '"1e21"',
    '"bad"',
    '"\\"str\\""',
    '""',
    '"{\\"a\\":{\\"b\\":{}}}"',
    '"[]"',
    '"true"',
]
_URLS = [
    '"https://u:p@ex.com:8080/p?q=1#f"',
    '"ex.com:80"',
    '"/rel/path?x"',
    '"http://[::1]:80/"',
    '"mailto:a@b"',
    '"http://a b"',
    '"%zz"',
    '"http://h/%41é"',
    '""',
    '"//h"',
]
_PATHS = ['"/a/b/../c.txt"', '"a//b/"', '""', '"."', '"../x"', '"a.tar.gz"', '"/"', '".hid"']
_DURATIONS = [
    '"1h"',
    '"90m"',
    '"-1.5h"',
    '"25h"',
    '"x"',
    '""',
    '"100ms"',
    '"1h2m3s"',
    '"9000h"',
    '"61s"',
    '"1d"',
]

LITERALS: dict[str, list[str]] = {
    "str": _STRINGS,
    "int": _INTS,
    "i64": ["(int64 5)", "(int64 -1)", "(add 1 2)", '(int64 "42")', "(int64 0)"],
    "float": _FLOATS,
    "num": [*_INTS, *_FLOATS, '"42"', '"x"', "(int64 5)", "true"],
    "small": [
        "0",
        "1",
        "2",
        "3",
        "5",
        "8",
        "-1",
        "-3",
        "3.0",
        "(len .)",
        '(len "abc")',
        '(int "4")',
        "(int 2.9)",
        "2.5",
        "12",
    ],
    "bool": ["true", "false", "(eq 1 1)", "(not .)"],
    "list": _LISTS,
    "seq": [*_LISTS, "(until 3)", '(splitList "," "c,a,b")', '(splitList "" "héy")', "(keys .)"],
    "strs": ['(splitList "," "c,a,b")', '(keys (dict "b" 1 "a" 2))', '(splitList "," "")'],
    "ints": ["(until 3)", "(untilStep 5 0 -2)", "(until 0)"],
    "dict": [*_DICTS, ".", "$"],
    "fresh": [*_DICTS, "(deepCopy $)", '(dict "a" (dict "c" 0 "k" 1) "s" "")', '(dict "l" (list) "n" 0)'],
    "smap": ['(split "," "a,b")', '(splitn "," 2 "a,b,c")'],
    "time": _TIMES,
    "when": [*_TIMES, "0", "86400", "(int64 1709212245)", "-1", "(int64 1720000000)"],
    "zone": ['"UTC"', '"Europe/Berlin"', '"America/New_York"', '"Nope"', '""', '"Asia/Kolkata"'],
    "ver": ['(semver "1.2.3")', '(semver "v2.0-rc1+m")'],
    "layout": _LAYOUTS,
    "pattern": _PATTERNS,
    "repl": ['"-"', '"$1"', '"${1}x"', '"[$0]"', '"$n"', '""', '"$$"', '"$1x"'],
    "json": _JSONS,
    "version": _VERSIONS,
    "range": _RANGES,
    "format": _FORMATS,
    "url": _URLS,
    "path": _PATHS,
    "dur": _DURATIONS,
    "nil": ["nil"],
}

TEXTS = [
    "x",
    " ",
    "\n",
    " text ",
    "\t\n ",
    "é",
    "a: b\n",
    "}}",
    "{ ",
    "日本\n",
    "{{/* note */}}",
    " {{- /* note */ -}} ",
    "-",
    "\r\n",
]

TOKENS = [
    "if", "else", "end", "range", "with", "define", "template", "block", "break", "continue", "nil", "true", ".", "$", "$x", ":=", "=", ",", "|", "(", ")", ".s", ".m.k", "$.s", '"a"', "`b`", "'c'", "1", "2.5", "-3", "0x1f", "upper", "print", "index", "nope",
    "else if", 'define "d"', 'template "d"', 'block "b" .', "range $i, $v := .l", "$x := 1", "/* c */", "1i", "len", "and", "not", "..", ".1", "$x.y", "(.m).k", "-", "+", "é", '"a', "true.x", "if .", "with .m", "range .l", "eq", '"t"',
]  # fmt: skip

METHODS = {
    "time": [
        "Year",
        "Month",
        "Day",
        "Weekday",
        "Unix",
        "IsZero",
        'Format "2006"',
        "UTC",
        "AddDate 0 1 -1",
        "Hour",
        "String",
        "Nope",
        "YearDay",
        "Month.String",
        "Sub $",
        "Year 1",
    ],
    "ver": [
        "Major",
        "Minor",
        "Patch",
        "Prerelease",
        "Metadata",
        "Original",
        "String",
        "IncMajor",
        "IncPatch.String",
        "Nope",
        "Major.x",
    ],
    "dict": ["a", "s", "k", "nope", "a.b", "b.c", "l"],
    "str": ["x"],
    "list": ["x"],
    "smap": ["_0", "_1", "_9"],
}

MUTATIONS = [
    "{{", "}}", "{{-", "-}}", "{{- ", " -}}", "{{end}}", "{{else}}", "{{if .}}", "{{range .}}", "|", "(", ")", '"', "`", "'", "$", "$x", ":=", "=", ",", ".", "..", "/*", "*/", "nil", "end", "else", "if", "break", "{{break}}", "{{continue}}",
    "0x", "1e", "\n", "\\", "é", "@", "#", "&", "%", "1.", ".1", "'a", "_", "\x00", "\t", "{{define \"d\"}}", "{{template \"d\"}}", "{{block \"b\" .}}", "true", "- ", "-1", "+", "\u00a0", "{", "}", "nope", "$v1", ".s", "{{with .}}", ";", "!", "[", "]",
]  # fmt: skip

_DATA_STRINGS = [
    "",
    "a",
    "hello world",
    "Foo-Bar_baz",
    "é✓日本",
    "42",
    "-7.5",
    "<x>&\"'",
    "a,b,,c",
    "line1\nline2",
    "true",
    "  pad ",
    "v1.2.3",
    "https://h:1/p",
    "{{ .s }}",
    "%d",
    "2024-02-29",
]
_DATA_NUMBERS = [0, 1, -1, 7, 2.5, -0.5, 1000000, 1e21, 1e-7, 123456789, 3, 0.1, 4294967296]


_VERBS = "vvvsdqxXtfgeEGbcoOUTwz"


def random_format(rng: random.Random) -> str:
    """One or two verbs with flags, width, precision, argument numbers and stars, as fmt reads them."""
    return (
        '"'
        + "".join(_random_verb(rng) + rng.choice(["", "|", " ", "é"]) for _ in range(rng.choice([1, 1, 2])))
        + '"'
    )


def _random_verb(rng: random.Random) -> str:
    flags = "".join(rng.sample("+-# 0", rng.choice([0, 0, 1, 1, 2])))
    width = rng.choice(["", "", "", "5", "12", "1", "*", "[1]*", "[2]"])
    precision = rng.choice(["", "", "", ".", ".0", ".1", ".2", ".5", ".12", ".*", ".[1]*"])
    return (
        "%"
        + flags
        + width
        + precision
        + rng.choice(["", "", "", "", "[1]", "[2]", "[0]", "[9]"])
        + rng.choice(_VERBS)
    )


def data_value(rng: random.Random, depth: int, name: str = "") -> Any:
    """Mostly what its name says (s, t: text; n, f: numbers; l: list; m, d: maps), at times something else, null included."""
    if rng.random() < 0.08:
        name = ""
    makers: dict[str, Callable[[], Any]] = {
        "s": lambda: rng.choice(_DATA_STRINGS),
        "t": lambda: rng.choice(_DATA_STRINGS),
        "n": lambda: rng.choice(_DATA_NUMBERS),
        "f": lambda: rng.choice(_DATA_NUMBERS),
        "b": lambda: rng.random() < 0.5,
        "l": lambda: _data_list(rng, depth),
        "m": lambda: _data_dict(rng, depth),
        "d": lambda: _data_dict(rng, depth),
        "null": lambda: None,
    }
    if name not in makers or (depth == 0 and name in "lmd"):
        name = rng.choice([*makers] if depth else ["s", "n", "b", "null"])
    return makers[name]()


def _data_list(rng: random.Random, depth: int) -> list[Any]:
    name = rng.choice(["s", "n", ""])
    return [data_value(rng, depth - 1, name) for _ in range(rng.choice([0, 1, 2, 3, 4]))]


def _data_dict(rng: random.Random, depth: int) -> dict[str, Any]:
    names = rng.sample(["a", "b", "c", "k", "s", "n", "l", "x_1", "é", "z"], rng.choice([0, 1, 2, 3]))
    return {name: data_value(rng, depth - 1, name) for name in names}
