"""All of fmt: every verb with every kind of value, then flags, widths and precisions, then formats that are wrong."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, grid

VERBS = [
    "v",
    "+v",
    "#v",
    "T",
    "q",
    "x",
    "X",
    "d",
    "s",
    "t",
    "e",
    "E",
    "f",
    "F",
    "g",
    "G",
    "b",
    "o",
    "O",
    "c",
    "U",
    "w",
    "p",
    "z",
]
DATE = '(toDate "2006-01-02" "2024-02-29")'
VALUES = [
    "42", "-42", "2.5", "1000000.0", '"hi"', '"é\\n✓"', "true", ".null", "(int64 -7)", "'a'", ".list", ".mixed", ".m", "(until 3)",
    '(splitList "," "a,b")', '(split "," "a,b")', "1i", "(first .el)", "(rest (list))", DATE,
    '(semver "1.2.3-a")', ".el", ".em", '(b64dec "/2E=")', ".nums",
]  # fmt: skip
SCALARS = ["42", "-7", "2.5", "-1234.5678", '"héy"', "true", "(int64 255)"]
FLAGS = ["+", "-", "#", " ", "0", "+0", "# ", "-0", "+#"]
SIZES = [
    "8",
    "-8",
    "08",
    ".0",
    ".2",
    ".5",
    "8.3",
    "-8.3",
    "+08.2",
    "1",
    "#8.3",
    " 8",
    "-08",
    "+.3",
    "#.3",
    "0.2",
    "20",
]
ADDRESSES = {
    ".list",
    ".mixed",
    ".m",
    "(until 3)",
    '(splitList "," "a,b")',
    '(split "," "a,b")',
    ".el",
    ".em",
    ".nums",
}
ADDRESSES |= {"(rest (list))", '(semver "1.2.3-a")'}


def cases() -> Iterator[Case]:
    for value in VALUES:
        # %p of a slice, map or pointer is an address; so is one part of a date under a verb that its String is not for.
        verbs = [v for v in VERBS if not (v == "p" and value in ADDRESSES)]
        if value == DATE:
            verbs = ["v", "+v", "#v", "T", "q", "x", "X", "s"]
        yield from grid("verbs", 'printf "%{0}|" {1}', verbs, [value])
    verbs = [v for v in VERBS if len(v) == 1 and v != "T"]
    yield from grid("flags", 'printf "%{0}{1}|" {2}', FLAGS, verbs, SCALARS)
    yield from grid(
        "sizes",
        'printf "%{0}{1}|" {2}',
        SIZES,
        ["v", "d", "s", "q", "x", "f", "g", "e", "t", "c", "U", "b", "o"],
        ["42", "-2.5", '"héy"', "1e9"],
    )
    yield from grid(
        "sizes",
        'printf "%{0}{1}|" {2}',
        ["6", "-6", ".1", "+", "#", "06", " "],
        ["v", "d", "s", "q", "x", "X", "f", "g"],
        [".list", ".nums", ".mixed", ".m"],
    )
    for verb in ["e", "f", "g", "E", "G"]:
        yield from grid(
            "floats",
            'printf "%' + verb + " %.3" + verb + " %#" + verb + " %+.0" + verb + '|" {0} {0} {0} {0}',
            FLOATS,
        )
    yield from actions("printing", MORE)


FLOATS = [
    "0.0", "1.0", "1e6", "1e21", "123456789.0", "1e-7", "0.000123456", "-2.5", "1e100", "5e-324", '(float64 "inf")', '(float64 "nan")',
    '(float64 "-inf")', "0.5", "1.5", "2.675", "999.9999", "1e20", "3.0", ".third", "99999.5",
]  # fmt: skip
MORE = r"""
print
print 1 2
print "a" "b"
print "a" 1 2 "b" 3
print 1 "a" true
print true false
print nil
print .null
print .null .null
print nil nil
print .list .m
print (list nil) (dict "a" nil)
print 1.0 2.5 .million
print 'a' 1i
println
println 1 "a"
println nil .null
println .list
print (list "a" "b") 1
print "é" (trunc 1 "é")
printf
printf 1
printf "x"
printf "%"
printf "%%"
printf "%5%"
printf "%d%"
printf "%!"
printf "%z" 1
printf "%é" 1
printf "%d"
printf "%d %d" 1
printf "%d" 1 2
printf "%d" 1 2 "x" nil .list
printf "x" 1
printf "%[1]d %[1]v %[1]T" 5
printf "%[2]d %[1]d" 1 2
printf "%[3]d" 1 2
printf "%[0]d" 1
printf "%[x]d" 1
printf "%[1d" 1
printf "%[1]" 1
printf "%[]d" 1
printf "%[2]*[1]d|" 7 5
printf "%*d|" 5 42
printf "%-*d|" 5 42
printf "%*d|" -5 42
printf "%.*f|" 2 3.14159
printf "%*.*f|" 8 2 3.14159
printf "%*d" "x" 42
printf "%.*d" -3 42
printf "%*d" 10000000 42
printf "%.*f" "x" 2.5
printf "%*d" 2.5 42
printf "%*d" (int64 5) 42
printf "%[1]*d" 5
printf "%[2]d %d" 1 2 3
printf "%[2]d" 1 2
printf "%.[2]*[1]f|" 3.14159 2
printf "%6.[2]f|" 3.14159 2
printf "%-010d|" 5
printf "%+-8d|%- 8d|" 5 5
printf "%.101f|%101d" 5.0 5
printf "%s %s" "a" .null
printf "%s" nil
printf "%d" nil
printf "%v %v" nil .null
printf "%T %T" nil .null
printf "%s" .list
printf "%d" .list
printf "%q" .list
printf "%x" .list
printf "%x" .nums
printf "%d" .nums
printf "%.1f" .nums
printf "%5.1f|" .nums
printf "%s" .mixed
printf "%v" .mixed
printf "%+v" .m
printf "%#v" .m
printf "%#v" .mixed
printf "%#v" .s
printf "%#v" "a`b\n\"c"
printf "%#q" "a`b"
printf "%#q" "a\"b"
printf "%#q" "a\nb"
printf "%+q" "é✓😀"
printf "%+#q" "é"
printf "%q" 233
printf "%q" 0x1F600
printf "%+q" 0x1F600
printf "%#q" 97
printf "%q" -1
printf "%q" 1114112
printf "%c" 233
printf "%c" -1
printf "%c" 55296
printf "%c|%5c|%-5c|%05c" 97 97 97 97
printf "%U %#U %08U %#.6U" 233 233 233 233
printf "%#U" 10
printf "%#U" 1114112
printf "%U" -1
printf "%x %X %#x %# x" "hello" "hello" "hello" "hello"
printf "% x|% X|%# X|%.2x|%6x" "héy" "héy" "héy" "héy" "héy"
printf "%x" -255
printf "%#x %#X %#o %O %#b" 255 255 8 8 5
printf "%+d %+d % d % d" 5 -5 5 -5
printf "%08d|%-8d|%+08d|% 08d" 42 42 42 42
printf "%08d" -42
printf "%.5d|%8.5d|%-8.5d|%08.5d" 42 42 42 42
printf "%.0d|" 0
printf "%x" 3.5
printf "%X" -3.5
printf "%b" 3.5
printf "%x %.3x" 1.0 1.1
printf "%5t|%-7t|%q" true false true
printf "%s" true
printf "%d" true
printf "%t" 1
printf "%s" 42
printf "%s" 2.5
printf "%s" .n
printf "%d" .n
printf "%d" "x"
printf "%f" 3
printf "%e" "x"
printf "%v" (list 1 "a" (list 2 (dict "b" nil)))
printf "%d" (list 1 "a" 2.5)
printf "%5d|" (list 1 22)
printf "%05.1f" -2.5
printf "%+.2e" 12345.678
printf "%6.3g|" 1234.5678
printf "%g %G" 1e-10 1e-10
printf "%#g %#g" 1.0 1e6
printf "%#.3g" 1.0
printf "%#.0f" 1.0
printf "%+v" 2.5
printf "%08.3f|%+08.3f|%-8.3f|% .3f" 3.14159 3.14159 3.14159 3.14159
printf "%010v|%010v" 2.5 -2.5
printf "%010s|%010q" "a" "b"
printf "%06s" "é"
printf "%.1s|%.2s|%5.1s|" "é✓" "é✓" "é✓"
printf "%.1q" "é✓"
printf "%5s|%-5s|" "é" "é"
printf "%3c|%-3c|" '✓' '✓'
printf "%v %d %s %q" 1i 1i 1i 1i
printf "%.2f %+g %8.1f" 1i 1i 1i
printf "%v" (toDate "2006-01-02" "2024-02-29")
printf "%s" (toDate "2006-01-02" "2024-02-29")
printf "%q" (semver "1.2.3")
printf "%v %s" (semver "1.2.3") (list (semver "1.2.3"))
printf "%T" (semver "1.2.3")
printf "%T %T %T %T" 1 1.0 "a" true
printf "%T %T %T %T" .list .m .n .s
printf "%T %T %T" (until 1) (splitList "" "") (split "" "")
printf "%T %T" 'a' 1i
printf "%T" (add 1 2)
printf "%T" (chunk 1 .list)
printf "%T" (len .s)
printf "%T" (regexFindAll "a" "b" 1)
printf "%T" (dict)
printf "%T" (toDate "2006" "2024")
printf "%T" (tuple)
printf "%T" (fromJson "1")
printf "%v" (chunk 2 .list)
printf "%d" (chunk 2 .nums)
printf "%+v %#v" (chunk 2 .list) (chunk 2 .list)
printf "%#v" (until 3)
printf "%#v" (splitList "," "a,b")
printf "%#v" (split "," "a,b")
printf "%#v" (dict "a" (list 1 nil))
printf "%#v" (rest (list))
printf "%#v" (list)
printf "%#v" (dict)
printf "%#v" nil
printf "%#v" 1000000.0
printf "%#v" 1.0
printf "%#v" 'a'
printf "%#v" (int64 5)
printf "%#v" true
printf "%#v" 1i
printf "%#d" (list 1 2)
printf "%x" (splitList "," "ab,c")
printf "% x" (splitList "," "ab,c")
printf "%s" (b64dec "/w==")
printf "%q" (b64dec "/w==")
printf "%x" (b64dec "/w==")
printf "%v" (b64dec "/w==")
printf "%c" .n
printf "%U" .n
printf "%6.2f%%" 12.345
printf "%s-%s" .s
printf "%v"
printf "%s" (list)
printf "%d" (list)
printf "%s" (dict)
printf "%d" (dict "a" 1 "b" "x")
printf "%s" (dict "a" 1 "b" "x")
printf "%q" (dict "a" "x")
printf "%t" (list true 1)
printf "%p" 1
printf "%p" "a"
printf "%p" nil
printf "%w" 1
printf "%w" "a"
printf "%!d" 1
printf "%-+5d|%+-5d|% +d" 1 1 1
printf "%  d" 1
printf "%00005d" 1
printf "%5.d|" 7
printf "%.d|" 0
printf "%.s|" "abc"
printf "%v|%6v|%-6v|%06v" "a" "a" "a" "a"
printf "%6v|%-6v|%06v" 42 42 42
printf "%6v|" true
printf "%6v|" nil
printf "%06d" (list 1 -2)
printf "%v %v" 1e6 123456789.0
printf "%v" 1e20
printf "%v" 1e21
printf "%v" 0.00001
printf "%3v|" .list
printf "%-3v|" .m
printf "%.3v" 3.14159
printf "%.2v" "hello"
printf "%s" "a" | printf "%s-%s" "b"
"x" | printf "%s"
.s | printf "%q"
.list | printf "%d items: %v" (len .list)
printf .s
printf .n
printf "%s" .html
printf "日本%d語" 1
printf "\u00e9%s" "é"
printf (trunc 1 "é")
printf (print "%" (trunc 1 "é")) 1
"""
