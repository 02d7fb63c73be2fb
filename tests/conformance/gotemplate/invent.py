"""Literals made up on the spot, where a fixed list would only ever try the same few: text, numbers, and all the small
languages that functions read (patterns, layouts, versions, ranges, URLs, durations, JSON).
"""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

Invent = Callable[[random.Random], str]

_LETTERS = ["a", "b", "Z", "0", "9", " ", "-", "_", ".", ",", "/", ":", "é", "ß", "日", "😀", "\n", "\t", "'", '"', "\\", "<", "&", "%", "$", "İ", "ǆ", "\u0301", "\u2028", "\x00", "\u00a0", "x", "Foo", "bar", "the ", "ID", "12"]  # fmt: skip


def _text(rng: random.Random) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(rng.choice([0, 1, 2, 3, 5, 8, 13])))


def quoted(text: str) -> str:
    """As a Go string literal."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\x00": "\\x00"}
    return '"' + "".join(plain.get(char, char) for char in text) + '"'


def _string(rng: random.Random) -> str:
    text = _text(rng)
    if rng.random() < 0.05:
        return f"(trunc {rng.choice([1, 2, 3, 5])} {quoted('é日😀' + text)})"
    return quoted(text)


def _integer(rng: random.Random) -> str:
    size = rng.choice([3, 10, 100, 10**6, 10**12, 2**62])
    return (
        rng.choice([str, hex, oct, bin])(rng.randrange(size))
        if rng.random() < 0.3
        else str(rng.randint(-size, size))
    )


def _float(rng: random.Random) -> str:
    value = rng.choice(
        [rng.uniform(-1, 1), rng.uniform(-1e4, 1e4), rng.uniform(-1e9, 1e9), 10.0 ** rng.randint(-320, 300)]
    )
    digits = rng.choice([1, 2, 3, 6, 17])
    shown = f"{value:.{digits}g}"
    return shown if any(mark in shown for mark in ".en") else shown + ".0"


def _number(rng: random.Random) -> str:
    made = rng.choice([_integer, _float])(rng)
    return quoted(made) if rng.random() < 0.2 else made


_ATOMS = ["a", "b", "o", "l", ".", "\\d", "\\w", "\\s", "\\W", "[a-c]", "[^a]", "[[:alpha:]]", "\\pL", "\\p{Greek}", "é", "日", "^", "$", "\\b", "\\B", "x", "\\.", "[\\w-]", "(?i:A)", "\\x41", "\\PL", "[^\\d]", "\\A", "\\z", "[a-zA-Z0-9_]", "\\Q+\\E", "\\t", "-"]  # fmt: skip
_REPEATS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{,2}", "{2,}", "**", "{0}"]


def _regex(rng: random.Random, depth: int = 2) -> str:
    parts = [_regex_part(rng, depth) + rng.choice(_REPEATS) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    text = "".join(parts)
    return text + "|" + _regex(rng, 0) if rng.random() < 0.15 else text


def _regex_part(rng: random.Random, depth: int) -> str:
    if depth and rng.random() < 0.3:
        opening = rng.choice(["(", "(", "(?:", "(?P<n>", "(?i)(", "(?s:", "(?<m>", "(?=", "(?-s:", "(?U:"])
        return opening + _regex(rng, depth - 1) + (")" if rng.random() < 0.97 else "")
    return rng.choice(_ATOMS)


def _pattern(rng: random.Random) -> str:
    return quoted(_regex(rng))


def _replacement(rng: random.Random) -> str:
    return quoted("".join(rng.choice(["$0", "$1", "${1}", "$n", "${n}", "$", "$$", "-", "é", "${2}x", "$1x", "\\1", "${"]) for _ in range(rng.choice([0, 1, 2, 3]))))  # fmt: skip


_LAYOUT = ["2006", "06", "01", "1", "Jan", "January", "02", "2", "_2", "__2", "002", "Mon", "Monday", "15", "03", "3", "04", "4", "05", "5", "PM", "pm", "MST", "-0700", "-07:00", "-07", "Z0700", "Z07:00", "Z07", ".000", ".999", ",00", ".0", "-070000", "Z07:00:00"]  # fmt: skip


def _layout(rng: random.Random) -> str:
    return quoted("".join(rng.choice(_LAYOUT) + rng.choice(["", " ", "-", "/", ":", "T", "."]) for _ in range(rng.choice([1, 2, 3, 5]))))  # fmt: skip


def _moment(rng: random.Random) -> str:
    second = rng.choice([rng.randint(0, 2 * 10**9), rng.randint(-(6 * 10**10), 2 * 10**11)])
    if rng.random() < 0.5:
        return f"(int64 {second})"
    layout = _layout(rng)
    # What Go wrote by a layout, read by the same: nearly every date that can be.
    return f"(toDate {layout} (date {layout} (int64 {second})))"


def _duration(rng: random.Random) -> str:
    parts = [f"{rng.choice(['', '1', '2.5', '.5', '90', '1000000'])}{rng.choice(['h', 'm', 's', 'ms', 'us', 'µs', 'ns', 'd', ''])}" for _ in range(rng.choice([1, 1, 2, 3]))]  # fmt: skip
    return quoted(rng.choice(["", "", "-", "+"]) + "".join(parts))


def _version_text(rng: random.Random) -> str:
    numbers = ".".join(str(rng.choice([0, 1, 2, 3, 10])) for _ in range(rng.choice([1, 2, 3, 3, 3, 4])))
    before = rng.choice(["", "", "", "-alpha", "-rc.1", "-0", "-beta.11", "-a.b.c", "-01", "-"])
    return rng.choice(["", "", "v"]) + numbers + before + rng.choice(["", "", "", "+b1", "+a.b", "+"])


def _range_text(rng: random.Random) -> str:
    one = rng.choice(
        ["", "=", "!=", ">", "<", ">=", "<=", "=>", "=<", "~", "~>", "^", "==", "!"]
    ) + rng.choice(["", " "])
    wild = rng.choice([_version_text(rng), _version_text(rng), "1.x", "1.2.x", "*", "x", "2.*", ""])
    text = one + wild
    if rng.random() < 0.3:
        text += rng.choice([" ", ", ", ",", " || ", "||", " - "]) + _range_text(rng)
    return text


def _url(rng: random.Random) -> str:
    parts = [
        rng.choice(["", "http://", "https://", "postgres://", "mailto:", "//", "a+b-c.d:", "1x://", "HTTP://"]),
        rng.choice(["", "", "u@", "u:p@", "u:p%40@", ":@", "é:b@", "u:p@q@"]),
        rng.choice(["", "h", "ex.com", "ex.com:80", "[::1]", "[::1]:8", "[fe80::1%25e]", "h:", "h:x", "é.com", "h%41", "a b", "1.2.3.4:5"]),
        rng.choice(["", "/", "/p/q", "/a b", "/%41%2f", "/é", "/;x", "/a:b", "p", "/%zz", "/*", "//x", "/..//."]),
        rng.choice(["", "", "?a=1&b=2", "?", "?é", "?a b", "?%zz", "?a?b"]),
        rng.choice(["", "", "#f", "#", "#a b", "#é%41", "#%zz", "#a#b"]),
    ]  # fmt: skip
    return quoted("".join(parts))


def _path(rng: random.Random) -> str:
    return quoted("".join(rng.choice(["/", "a", "..", ".", "b.txt", ".c", "é", "//", "x y"]) for _ in range(rng.choice([0, 1, 2, 4, 6]))))  # fmt: skip


def _json_value(rng: random.Random, depth: int) -> Any:
    if depth and rng.random() < 0.4:
        return [_json_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2]))]
    if depth and rng.random() < 0.4:
        return {_text(rng): _json_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 2]))}
    return rng.choice([None, True, 0, 1.5, 1e21, -7, _text(rng), 10.0 ** rng.randint(-30, 30)])


def _json(rng: random.Random) -> str:
    text = json.dumps(_json_value(rng, 2), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 1]))
    if rng.random() < 0.3:
        at = rng.randrange(len(text) + 1)
        text = (
            text[:at]
            + rng.choice(["", ",", "}", "x", '"', "\\", "-", "1e", "\x01", " "])
            + text[at + rng.choice([0, 1, 2]) :]
        )
    return quoted(text)


_MAKERS: dict[str, Invent] = {
    "str": _string,
    "int": _integer,
    "float": _float,
    "num": _number,
    "pattern": _pattern,
    "repl": _replacement,
    "layout": _layout,
    "when": _moment,
    "time": _moment,
    "dur": _duration,
    "version": lambda rng: quoted(_version_text(rng)),
    "range": lambda rng: quoted(_range_text(rng)),
    "url": _url,
    "path": _path,
    "json": _json,
}


def invent(kind: str, rng: random.Random) -> str | None:
    """A literal of the kind; None where the fixed ones do."""
    maker = _MAKERS.get(kind)
    return maker(rng) if maker else None
