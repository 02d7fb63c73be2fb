"""Numbers, strings and characters as they may be written, and as they may not."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, grid

NUMBERS = [
    "0", "00", "007", "017", "08", "09", "018", "0o17", "0O17", "0o18", "0b101", "0B11", "0b2", "0x1F", "0X1f", "0xg", "0x", "1_000", "1__0",
    "_1", "1_", "0_7", "0x_1f", "0x1_f", "0b_1", "1e3", "1E3", "1e+3", "1e-3", "1e", "1e+", "1.5e3", ".5", "5.", "0.", ".", "1.2.3", "0x1p4",
    "0x1.8p1", "0x1p", "0x1.8", "1p4", "1i", "1.5i", "0i", "1e3i", "0x1i", "017i", "08i", "1+2i", "1-2i", "1.5+2.5i", "1+2", "-1", "+1", "--1",
    "-0", "+0x1f", "-017", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "0xffffffffffffffff", "0x7fffffffffffffff", "1e18", "1e19", "1e20", "1e400", "1e-400", "123abc", "1a", "09.5", "08.0",
    "1_0.5", "1._5", "1.5_5", "1e1_0", "00.5", "0b1.1", "0o7.5", "1e100", "12345678901234567890", "0.1", "1.0", "-2.50", "1E-07", "3.0e0", "0x1P-2",
    "Inf", "NaN", "1x", "0xABCdef", "1_000_000.5", "0b", "0o", "0_", "0x1.p1", "1.e5", "-.5", "+.5e1", "- 1", "1 -1", "1.0i", "1ii",
]  # fmt: skip
CHARACTERS = [
    "'a'", "'é'", "'日'", "'😀'", "'\\n'", "'\\''", "'\\\"'", "'\\\\'", "'\\x41'", "'\\u00e9'", "'\\U0001F600'", "'\\101'", "'ab'", "''", "'", "'\\'",
    "'\\q'", "'\\0'", "'\\400'", "'\\x4'", "' '", "'\"'", "'\\a'", "'\\ud800'", "'\n'",
]  # fmt: skip
STRINGS = [
    '"a"', '""', '"a\\nb"', '"\\t\\r\\a\\b\\f\\v"', '"\\x41\\x00"', '"\\xff"', '"\\u00e9"', '"\\U0001F600"', '"\\101"', '"\\400"', '"\\q"', '"\\\'"',
    '"\\""', '"\\\\"', '"a', '"a\\"', '"\\ud800"', '"\\U00110000"', '"\\x4"', '"é日😀"', "`a`", "`a\\n`", "`a\nb`", "`a\"b'c`", "`", "``", '"a\nb"',
    '"%s"', '"{{"', '"}}"', '"\\u12"', '"\\8"', '"\\xzz"', "`\r\n`", '"\t"', '"a"b', '"a"1', '"a".x', "`a`.x", '"a" "b"',
]  # fmt: skip


def cases() -> Iterator[Case]:
    for group, column in (("numbers", NUMBERS), ("characters", CHARACTERS), ("strings", STRINGS)):
        yield from grid(group, "{0}", column)
        yield from grid(group, 'printf "%T %v %q" {0} {0} {0}', column)
    yield from grid("numbers", "print {0} | upper", NUMBERS)
    yield from grid(
        "constants as int",
        "until {0} | len",
        ["3", "3.0", "3.5", "'a'", "3i", "3+0i", "0x3", "1e1", "true", '"3"', "nil", "1e30", "-0.0", "1e2"],
    )
    yield from grid(
        "constants as float", "round 1.23456 1 {0}", ["1", "1.5", "'a'", "1i", "1e30", "nil", "true", '"a"']
    )
    yield from grid(
        "constants as string", "upper {0}", ['"a"', "`a`", "1", "'a'", "1.5", "true", "nil", "1i"]
    )
    yield from grid(
        "constants as bool", "ternary 1 2 {0}", ["true", "false", "1", '"a"', "nil", "'a'", "1.0"]
    )
    yield from grid("constants as map", "keys {0}", ["nil", "1", '"a"', "true", "'a'"])
    yield from grid("constants as time", "unixEpoch {0}", ["nil", "1", '"a"', "true", "1.5"])
    yield from grid(
        "constants as uint32",
        'derivePassword {0} "nope" "p" "u" "s"',
        ["1", "-1", "1.0", "4294967295", "4294967296", "'a'", "nil", '"1"'],
    )
    yield from actions(
        "constants",
        "true.x\nfalse 1\nnil.x\n1.x\n'a'.x\n(1).x\ntrue true\ntrue | print\nnil | quote\ntrue.x.y",
    )
