"""Lists and what becomes of them: nil slices, typed slices, aliasing, strict equality."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import LISTS, actions, call, grid, templates

ITEMS = ["1", "1.0", '"a"', '""', ".n", ".null", "true", "(list 1)", '(dict "k" "v")', "3.0"]
ONE_LIST = [
    "first",
    "last",
    "rest",
    "initial",
    "reverse",
    "uniq",
    "compact",
    "sortAlpha",
    "len",
    "toJson",
    "toStrings",
    "kindOf",
    "typeOf",
]


def cases() -> Iterator[Case]:
    for name in ONE_LIST:
        yield from call(name, [*LISTS, ".nested", ".people"])
    for name in (
        "mustFirst",
        "mustLast",
        "mustRest",
        "mustInitial",
        "mustReverse",
        "mustUniq",
        "mustCompact",
    ):
        yield from call(name, LISTS)
    for name in ("append", "prepend", "push", "mustAppend", "mustPush", "mustPrepend"):
        yield from call(name, LISTS[:6], ITEMS[:5])
    for name in ("has", "mustHas"):
        yield from call(name, ITEMS, LISTS)
    for name in ("without", "mustWithout"):
        yield from call(name, LISTS, ITEMS[:6])
    for name in ("slice", "mustSlice"):
        yield from call(
            name,
            [".list", ".el", "(until 5)"],
            ["0", "1", "3", "4", "-1", '"1"', "1.9"],
            ["0", "1", "3", "9", ".n"],
        )
        yield from call(name, [".list", ".el", ".s", ".null"], ["0", "2", "5"])
    for name in ("chunk", "mustChunk"):
        yield from call(name, ["-1", "0", "1", "2", "3", "100"], [".list", ".el", "(until 7)", "(list 1)"])
    yield from call("concat", LISTS[:6], LISTS[3:])
    yield from grid(
        "rest",
        "{0} (list) | toJson",
        ["rest", "initial", "first", "last", "reverse", "uniq", "compact", "concat", "sortAlpha"],
    )
    yield from grid(
        "index",
        "index {0} {1}",
        [*LISTS, ".nested", ".s", ".m"],
        ["0", "1", "-1", "3", "9", ".zero", "0.0", '"a"', "nil", "(int64 1)"],
    )
    yield from actions("lists", MORE)
    yield from templates("aliasing", ALIASING)


MORE = r"""
list
list nil
list .null nil 1
list 1 2 | len
tuple 1 "a"
list | toJson
list nil | toJson
first (list)
first (list) | quote
last (list nil)
rest (list 1)
rest (list 1) | toJson
rest (list) | toJson
rest (list) | len
rest (list) | printf "%#v"
initial (list) | printf "%#v"
concat | toJson
concat (list) | toJson
concat (list) (list) | toJson
concat (list 1) (until 2) (splitList "," "x,y")
concat "a"
concat nil
concat .null
concat (list 1) .s
deepEqual (rest (list)) (list)
deepEqual (concat) (list)
deepEqual (concat) (rest (list))
deepEqual (list 1) (list 1)
deepEqual (list 1) (list 1.0)
deepEqual (list 1) (list (int64 1))
deepEqual (until 2) (list 0 1)
deepEqual (until 2) (untilStep 0 2 1)
deepEqual .list (list "b" "a" "c")
deepEqual .nums (list 3.0 1.0 2.0)
deepEqual nil .null
deepEqual nil (list)
deepEqual nil (rest (list))
deepEqual (dict) .em
deepEqual (dict "a" 1) (dict "a" 1)
deepEqual (float64 "nan") (float64 "nan")
deepEqual (toDate "2006" "2024") (toDate "2006" "2024")
deepEqual (semver "1.2.3") (semver "1.2.3")
deepEqual 0.0 -0.0
uniq (list 1 1.0 (int64 1) "1" 1)
uniq (list (list 1) (list 1) (list 1.0))
uniq (list nil nil .null)
uniq (list (dict "a" 1) (dict "a" 1))
uniq "a"
uniq nil
uniq .null
has 3.0 .nums
has 3 .nums
has (int64 3) .nums
has "a" .list
has nil (list nil)
has .null (list nil)
has nil nil
has 1 .null
has 1 "abc"
has "a" .m
has (list 1) (list (list 1))
without .list "a" "b"
without .nums 3
without .nums 3.0
without (list nil 1) nil
without .list
without nil 1
compact (list 0 "" nil false (list) (dict) 0.0 "a" 1)
compact .mixed
compact "a"
sortAlpha (list 3 "b" 1 "a" nil 2.5)
sortAlpha .mixed
sortAlpha (list "é" "e" "z" "É" "10" "9")
sortAlpha 5
sortAlpha nil
sortAlpha .m
reverse "abc"
reverse nil
reverse (until 3) | printf "%T"
reverse .list | join ""
chunk 2 (list 1 2 3) | toJson
chunk 2 (list) | toJson
chunk 0 (list 1 2)
chunk -1 (list 1 2)
chunk 2 "abc"
chunk 2 nil
chunk 1 (until 3) | printf "%T %v"
slice .list
slice .list 1
slice .list 1 2
slice .list 1 2 3
slice .list 2 1
slice .list -1
slice .list 0 9
slice .list "1" "2"
slice .list 1.9
slice .list nil
slice .s 1
slice .s 1 3
slice (list) 0 1
slice (list) 0 1 | printf "%T"
slice (until 5) 1 3 | printf "%T"
slice (splitList "," "a,b,c") 1 | join "-"
mustSlice .n 1
slice .list 0 4
slice .list 3 4
slice .list 0 5
slice .mixed 0 8
slice .el 0 1
slice (list 1 2 3) 0 4
slice (until 3) 0 4
slice (until 5) 0 9
slice (slice .list 0 1) 0 3
slice (splitList "," "a,b,c") 0 4
slice (append (list 1 2) 3) 0 4
slice (append (list 1 2 3 4) 5) 0 8
slice (prepend (list 1 2) 3) 0 4
slice (uniq (list 1 2 3)) 0 4
slice (concat (list 1 2) (list 3)) 0 4
slice (rest (list 1 2 3 4)) 0 4
slice (sortAlpha (list "b" "a" "c")) 0 4
slice (regexFindAll "a" "aaa" -1) 0 4
slice (fromJson "[1,2,3]") 0 4
slice (without .list "z") 0 4
slice (compact .list) 0 4
slice (pluck "a" .m .m .m) 0 4
index .nested 0 1
index .nested 0 5
index .nested 9 0
index .people 0 "name"
index .people 0 "nope"
index .m "c" "e" 1
index .m "c" "x"
index .m "x" "y"
index .m "z" "y"
index .list
index .list nil
index .list "0"
index .list 0.0
index .list .zero
index .list (int64 1)
index .list 'a'
index .list -1
index .list 3
index .list 1000000000000000000000
index .s 0
index .s 1
index .u 1
index .s 11
index .s 99
index .e 0
index .n 0
index .null 0
index nil 0
index .null
index .m 1
index .m nil
index .m .null
index (split "," "a,b") "_1"
index (split "," "a,b") "_9"
index (until 5) 2
index (chunk 2 .list) 0 1
index (dict "a" nil) "a"
index 1
index
len .list
len .m
len .s
len .u
len .e
len .n
len nil
len .null
len 3
len true
len (until 4)
len (split "," "a,b")
len (toDate "2006" "2024")
first .nested | first
last .nested | len
.nested | first | last
pluck "name" (index .people 0) (index .people 1)
append .list "d" | len
append (until 2) "x" | printf "%T %v"
append nil 1
append .null 1
append .s 1
append 1 1
prepend (list) nil | toJson
prepend .list 1 | first
mustAppend nil 1
mustPrepend .n 1
mustRest "a"
mustInitial 1
mustReverse .m
mustUniq .n
mustWithout "a" "b"
mustHas 1 "a"
mustCompact 1
mustChunk 1 "a"
mustFirst "abc"
mustLast .m
first "abc"
last nil
"""
ALIASING = r"""
{{ $l := splitList "," "b,a" }}{{ $s := sortAlpha $l }}{{ $l }} {{ $s }}
{{ $l := list "b" "a" }}{{ $s := sortAlpha $l }}{{ $l }} {{ $s }}
{{ $l := keys (dict "b" 1 "a" 2) }}{{ $s := sortAlpha $l }}{{ $l }} {{ $s }}
{{ $l := splitList "," "b,a" }}{{ $t := toStrings $l }}{{ $s := sortAlpha $t }}{{ $l }}
{{ $l := splitList "," "c,b,a" }}{{ $p := slice $l 0 2 }}{{ $s := sortAlpha $p }}{{ $l }} {{ $p }}
{{ $l := list 1 2 3 }}{{ $a := append (slice $l 0 1) 9 }}{{ $l }} {{ $a }}
{{ $d := dict "a" 1 }}{{ $l := list $d }}{{ $_ := set $d "b" 2 }}{{ $l }}
{{ $d := dict "a" 1 }}{{ $l := list $d }}{{ $c := deepCopy $l }}{{ $_ := set $d "b" 2 }}{{ $l }} {{ $c }}
{{ $l := .list }}{{ $r := reverse $l }}{{ $l }} {{ $r }}
{{ $l := until 3 }}{{ $m := initial $l }}{{ $m }} {{ $l }}
{{ range $i, $x := chunk 2 .list }}{{ $i }}:{{ $x | join "+" }};{{ end }}
{{ range until 3 }}{{ . }},{{ end }}{{ range seq 3 | splitList " " }}{{ . }}{{ end }}
"""
