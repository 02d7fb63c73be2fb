"""Dicts: mutation is visible to all who hold the dict, merge has mergo's rules, dig panics on what is no map."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import DICTS, actions, call, templates

KEYS = ['"a"', '"c"', '"z"', '"nope"', '""']
VALUES = [
    "1",
    "2.5",
    '"x"',
    '""',
    "0",
    "false",
    "nil",
    "(list)",
    "(list 1)",
    "(dict)",
    '(dict "x" 1)',
    '(dict "y" (dict "z" 2))',
    ".null",
]


def cases() -> Iterator[Case]:
    for name in ("get", "hasKey", "unset", "pick", "omit"):
        yield from call(name, DICTS, KEYS)
    for name in ("keys", "values", "len", "toJson", "toPrettyJson", "kindOf", "deepCopy", "empty"):
        yield from call(name, DICTS)
    yield from call("pluck", KEYS, DICTS, DICTS[:2])
    for name in ("merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite"):
        destinations = [f'(dict "k" {v})' for v in VALUES]
        yield from call(name, destinations, [f'(dict "k" {v})' for v in VALUES])
    yield from call("dig", KEYS, ['"d"', '"q"'], ['"default"', "nil"], DICTS)
    yield from actions("dicts", MORE)
    yield from templates("mutation", MUTATION)


MORE = r"""
dict
dict "a"
dict "a" 1 "b"
dict 1 2 true 3 nil 4 2.5 5
dict "a" 1 "a" 2
dict "b" 1 "a" 2 | toJson
dict .s .n
dict (list 1) 2
get .m "a"
get .m "nope"
get .m "nope" | printf "%q"
get .m "z"
get .m "c" | toJson
get nil "a"
get .null "a"
get .s "a"
get .m 1
get .m .null
get (split "," "a") "_0"
get (first .el) "a"
hasKey nil "a"
hasKey (first .el) "a"
hasKey .m "z"
hasKey (split "," "a") "_0"
set nil "a" 1
set (first .el) "a" 1
set .m "new" 1 | keys
set .s "a" 1
set .m 1 1
set .m "a"
unset .m "a" | keys
unset .m "nope" | len
unset (first .el) "a"
keys .m
keys .m .m
keys .m (dict "q" 1)
keys
keys (split "," "a")
keys (first .el)
keys .list
keys .m | sortAlpha | join ","
keys .m | printf "%T"
keys (dict) | toJson
values .m
values .m | printf "%T"
values (dict) | toJson
values (split "," "a")
values
pick .m "a" "z" "nope"
pick .m
pick .m (list "a")
pick .m .list
omit .m "a"
omit .m
omit .m "a" "b" "c" "z" | toJson
omit nil "a"
pluck "name" (index .people 0)
pluck "name"
pluck "a" .m .em (dict "a" 2)
pluck "a" .people
merge
merge .m
merge (dict) .m
merge .em .m | toJson
merge (dict "a" 5) .m | toJson
merge (dict "c" "x") .m | toJson
merge (dict "c" (dict "d" "mine")) .m | toJson
merge (dict "c" (dict)) .m | toJson
merge (dict "a" 0) .m | toJson
merge (dict "a" nil) .m | toJson
merge (dict "a" (list)) (dict "a" (list 1)) | toJson
merge (dict "a" (list 1)) (dict "a" (list 2)) | toJson
merge (dict) (dict "a" 1) (dict "a" 2 "b" 3) | toJson
merge .m .s
merge nil .m
merge (first .el) .m
merge .m nil
merge .m (first .el) | toJson
merge (dict "a" (dict "b" 1)) (dict "a" "x") | toJson
merge (dict "a" "x") (dict "a" (dict "b" 1)) | toJson
mergeOverwrite (dict "a" 1) (dict "a" 0) | toJson
mergeOverwrite (dict "a" 1) (dict "a" nil) | toJson
mergeOverwrite (dict "a" 1) (dict "a" false) | toJson
mergeOverwrite (dict "a" 1) (dict "a" "") | toJson
mergeOverwrite (dict "a" (list 1)) (dict "a" (list)) | toJson
mergeOverwrite (dict "a" (dict "b" 1)) (dict "a" (dict "c" 2)) | toJson
mergeOverwrite (dict "a" (dict "b" 1)) (dict "a" (dict "b" (dict "x" 1))) | toJson
mergeOverwrite (dict "a" (dict "b" 1)) (dict "a" "x") | toJson
mergeOverwrite (dict "a" "x") (dict "a" (dict "b" 1)) | toJson
mergeOverwrite (dict "a" 1) (dict "a" "s") | toJson
mergeOverwrite .m (dict "c" (dict "d" 1)) | toJson
mergeOverwrite (dict) .m .em | toJson
mergeOverwrite (dict "a" (until 2)) (dict "a" (list 9)) | toJson
mergeOverwrite (dict "a" (split "," "x,y")) (dict "a" (dict "_0" "q")) | toJson
merge (dict "a" (split "," "x")) (dict "a" (split "," "p,q")) | toJson
mustMerge (dict "a" 1) (dict "a" "x") | toJson
mustMergeOverwrite (dict "a" (dict "b" 1)) (dict "a" 5) | toJson
dig "a" "x" .m
dig "c" "d" "x" .m
dig "c" "nope" "x" .m
dig "nope" "d" "x" .m
dig "a" "d" "x" .m
dig "b" "d" "x" .m
dig "z" "d" "x" .m
dig "z" "x" .m
dig "c" "e" "x" .m
dig "c" "e" "f" "x" .m
dig "a" .m
dig .m
dig
dig 1 "x" .m
dig "a" "x" .s
dig "a" "x" nil
dig "a" "x" (first .el)
dig "a" "x" (split "," "a")
dig "a" nil (dict)
.m | dig "c" "d" "x"
.m | dig "c" "q" (list 1 2)
deepCopy .m | toJson
deepCopy nil
deepCopy .null
deepCopy .list
deepCopy 1
deepCopy (until 2) | printf "%T"
deepCopy (split "," "a,b") | printf "%T %v"
mustDeepCopy .mixed | toJson
deepCopy (toDate "2006" "2024")
.m.a
.m.c.d
.m.c.e
.m.z
.m.nope
.m.z.x
.m.a.x
.m.c.e.x
.m.b.x
(dict "k" 1).k
(dict "k" 1).z
(dict "k" (dict "j" 2)).k.j
(split "," "a,b")._0
(split "," "a,b")._5
(list 1).x
(fromJson "{\"a\":{\"b\":1}}").a.b
"""
MUTATION = r"""
{{ $d := dict "a" 1 }}{{ $_ := set $d "b" 2 }}{{ $d }}
{{ $d := dict "a" 1 }}{{ $e := $d }}{{ $_ := set $e "b" 2 }}{{ $d }}
{{ $_ := set .m "new" "v" }}{{ .m.new }} {{ .m | toJson }}
{{ $_ := unset .m "a" }}{{ .m | toJson }}
{{ set . "x" 1 | keys | len }} {{ .x }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := merge (dict) $a }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := merge (dict "n" (dict "z" 0)) $a }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }} {{ $b | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := mergeOverwrite (dict) $a }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := mergeOverwrite (dict "n" (dict)) $a }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := deepCopy $a }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }} {{ $b | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := pick $a "n" }}{{ $_ := set $b.n "y" 2 }}{{ $a | toJson }}
{{ $a := dict "n" (dict "x" 1) }}{{ $b := omit $a "q" }}{{ $_ := set $b "y" 2 }}{{ $a | toJson }}
{{ $d := dict }}{{ range $i, $k := list "x" "y" }}{{ $_ := set $d $k $i }}{{ end }}{{ $d | toJson }}
{{ $d := dict "a" 1 "b" 2 }}{{ range $k, $v := $d }}{{ $_ := unset $d $k }}{{ end }}{{ $d }}
{{ $d := dict "a" 1 "b" 2 }}{{ range $k, $v := $d }}{{ $_ := set $d $k (add $v 10) }}{{ end }}{{ $d }}
{{ $d := dict "self" 1 }}{{ $_ := set $d "self" $d }}{{ $d | toJson }}|
{{ $d := dict "self" 1 }}{{ $_ := set $d "self" $d }}{{ $d | mustToJson }}|
{{ $d := dict "a" 1 }}{{ $m := merge $d (dict "b" 2) }}{{ $_ := set $m "c" 3 }}{{ $d | toJson }}
{{ $d := .m }}{{ with set $d "a" 5 }}{{ .a }}{{ end }}{{ .m.a }}
{{ $x := merge (dict "a" (dict "p" 1)) (dict "a" (dict "q" 2)) (dict "a" (dict "p" 9 "r" 3)) }}{{ $x | toJson }}
{{ $x := mergeOverwrite (dict "a" (dict "p" 1)) (dict "a" (dict "q" 2)) (dict "a" (dict "p" 9 "r" 3)) }}{{ $x | toJson }}
{{ range $k, $v := .m }}{{ $k }}={{ $v }};{{ end }}
{{ range .m }}{{ . }};{{ end }}
{{ range $v := .m }}{{ $v }};{{ end }}
{{ range $k, $v := dict "_10" 1 "_2" 2 "a" 3 "B" 4 "é" 5 }}{{ $k }}={{ $v }};{{ end }}
"""
