"""Templates that try to take all time and memory: some written by hand, and every function given a megabyte.

The sweep knows of a function only its signature, so a new one is attacked from the day it is declared.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from steward.gotemplate.funcs import function_set
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.values.values import GoType, StringSlice

MEGABYTE = 1 << 20

DOUBLE = "{{ $s := .s }}{{ range until 60 }}{{ $s = %s }}{{ end }}{{ $s }}"
DEEP = "{{ $l := list 1 }}{{ range until 60 }}{{ $l = list $l $l }}{{ end }}{{ %s }}"
BIG = '{{ $b := repeat 400000 "é" }}{{ range until 50000 }}{{ $x := %s }}{{ end }}'
CIRCLE = '{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ %s }}'

DOUBLING = """
print $s $s
printf "%s%s" $s $s
printf "%v%v|" $s $s
println $s $s
cat $s $s
replace "x" "xx" $s
join "," (list $s $s $s)
js (print $s `'`)
quote $s
html (print $s $s)
regexReplaceAll "x" $s "xx"
"""
WALKING = """
$l
toJson $l
toPrettyJson $l
deepCopy $l
eq $l $l
printf "%d" $l
quote $l
html $l
join `,` $l
"""
READING = """
sha256sum $b
contains `b` $b
eq $b $b
len $b
trunc 5 $b
index $b 0
upper $b
toJson $b
b32enc $b
"""
CIRCLING = """
$d
printf "%#v" $d
mustToJson $d
"""
OTHERS = [
    "{{ range 1000000000 }}{{ . }}{{ end }}",
    "{{ range until 300 }}{{ range until 300 }}{{ range until 300 }}a{{ end }}{{ end }}{{ end }}",
    "{{ range 1000000000 }}{{ if eq . 999999999 }}{{ break }}{{ end }}{{ end }}",
    "{{ wrap 1 (repeat 500000 `a `) }}",
    "{{ wrapWith 1 `-` (repeat 1000000 `a`) }}",
    "{{ repeat 1000000000 `abc` }}",
    "{{ repeat 100000 `abc` | repeat 100000 }}",
    "{{ until 1000000000 }}",
    "{{ untilStep 0 1000000000 1 }}",
    "{{ seq 1000000000 }}",
    "{{ indent 1000000000 `a` }}",
    "{{ nindent 100000000 `a` }}",
    "{{ range until 1000 }}{{ printf `%*d` 1000000 1 }}{{ end }}",
    "{{ range until 1000 }}{{ printf `%.1000000f` 1.0 }}{{ end }}",
    "{{ $l := list }}{{ range until 90000 }}{{ $l = append $l . }}{{ end }}",
    "{{ $l := until 1000 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}",
    "{{ $l := until 1000 }}{{ range 7 }}{{ $l = concat $l $l }}{{ end }}{{ range 50 }}{{ toJson $l }}{{ end }}",
    "{{ $d := dict }}{{ range 3000 }}{{ set $d (print .) 1 | empty }}{{ end }}"
    "{{ $_ := set $d `a` $d }}{{ mustToJson $d }}",
    "{{ define `r` }}{{ template `r` . }}{{ end }}{{ template `r` . }}",
    "{{ define `r` }}{{ template `r` . }}{{ template `r` . }}{{ end }}{{ template `r` . }}",
    "{{ regexReplaceAll `` (repeat 100000 `a`) (repeat 1000 `b`) }}",
    "{{ regexFindAll `.` (repeat 5000000 `a`) -1 }}",
    "{{ mustRegexMatch `((a{1000}){1000}){1000}` `a` }}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ if 1 }}" * 900 + "{{ end }}" * 900,
    "{{ if 0 }}" + "{{ else if 0 }}" * 2000 + "{{ end }}",
    "{{ .s }}" * 100_000,
    "{{ .s" + " | upper" * 100_000 + " }}",
    "a" * 10_000_000,
    "{{ " + "and 1 (" * 90 + "1" + ")" * 90 + " }}" + "{{ upper (lower (" * 20 + "1" + "))" * 20,
]


def _filled(frame: str, lines: str) -> list[str]:
    return [frame % line for line in lines.strip().splitlines()]


TEMPLATES = [
    *_filled(DOUBLE, DOUBLING),
    *_filled(DEEP, WALKING),
    *_filled(BIG, READING),
    *_filled(CIRCLE, CIRCLING),
    *OTHERS,
]
"""Each of them ends in an error. Their data is ROW."""
ROW: dict[str, Any] = {"s": "x" * 100}


class Attack(NamedTuple):
    """One call of a function. The arguments are named after what they hold."""

    function: str
    arguments: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"{{{{ {self.function} {' '.join(f'.{name}' for name in self.arguments)} }}}}"


# Each is a megabyte that some function takes badly: separators, escapes, bytes that are no UTF-8, parts of versions.
TEXTS = {
    "letters": "a",
    "words": "Ab ",
    "lines": "a\n",
    "accents": "é",
    "stray": "\udcff",
    "quotes": '<"\\&\x00',
    "digits": "7",
    "parts": "1.",
    "paths": "../",
    "brackets": '[{"',
    "verbs": "%v",
    "padding": "A=",
}
SMALL = {"empty": "", "letter": "a", "pattern": "(a|b)*?."}
NUMBERS = {"three": 3, "million": 1_000_000}
LISTS = ("strings", "numbers", "mixed", "nested")


def data() -> dict[str, Any]:
    """What the arguments' names stand for; functions may change the map and the list of strings, so these are new."""
    kept = _data()
    return {**kept, "dict": dict(kept["dict"]), "strings": StringSlice(kept["strings"])}


@cache
def _data() -> dict[str, Any]:
    texts = {
        name: unit * (MEGABYTE // len(unit.encode(errors="surrogateescape"))) for name, unit in TEXTS.items()
    }
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    return {
        **texts,
        **SMALL,
        **NUMBERS,
        "strings": StringSlice([f"{number:064d}" for number in range(MEGABYTE // 64)]),
        "numbers": [float(number) for number in range(MEGABYTE // 16)],
        "mixed": [["a", 1.5, None, {"b": True}]] * (MEGABYTE // 64),
        "nested": nested,
        "dict": {f"key-{number}": "v" * 48 for number in range(MEGABYTE // 64)},
        "yes": True,
    }


def attacks(functions: str) -> Iterator[Attack]:
    """Every function of the set with large arguments in all its places, and in each alone."""
    for function in function_set(functions).values():
        yield from sorted(set(_attacks_on(function)))


def _attacks_on(function: Function) -> Iterator[Attack]:
    types = [*function.params, *[function.rest] * 2] if function.rest else [*function.params]
    large = [_large(wanted) for wanted in types if wanted]
    for of_kind in range(max(map(len, large), default=0)):
        everywhere = [names[of_kind % len(names)] for names in large]
        for number in NUMBERS:
            yield _attack(function, types, everywhere, number)
        if len(types) > 1:
            yield from _alone(function, types, everywhere, list(SMALL)[of_kind % len(SMALL)])


def _alone(
    function: Function, types: list[GoType | None], everywhere: list[str], small: str
) -> Iterator[Attack]:
    """One place holds little: a short separator in a long text does more harm than a long one."""
    for place, wanted in enumerate(types):
        if wanted and wanted.kind in ("string", "interface"):
            yield _attack(function, types, [*everywhere[:place], small, *everywhere[place + 1 :]], "three")


def _attack(function: Function, types: list[GoType | None], names: list[str], number: str) -> Attack:
    numbered = [
        number if wanted and _is_number(wanted) else name for wanted, name in zip(types, names, strict=True)
    ]
    return Attack(function.name, tuple(numbered))


def _large(wanted: GoType) -> list[str]:
    if wanted.kind == "string":
        return list(TEXTS)
    if wanted.kind in ("interface", "struct-value"):
        return [*TEXTS, *LISTS, "dict"]
    return {"slice": list(LISTS), "map": ["dict"], "bool": ["yes"]}.get(wanted.kind, ["three"])


def _is_number(wanted: GoType) -> bool:
    return wanted.kind.startswith(("int", "uint", "float")) and wanted.kind != "interface"
