"""Missing keys in Go's three modes, over every way to reach for one."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, templates

MODES = ("default", "zero", "error", "invalid")


def cases() -> Iterator[Case]:
    for mode in MODES:
        yield from actions(f"missingkey={mode}", REACHES, missingkey=mode)
        yield from templates(f"missingkey={mode}", WHOLE, missingkey=mode)


REACHES = r"""
.missing
.missing.x
.missing.x.y
.m.missing
.m.missing.x
.m.z
.m.z.x
.m.a.x
.null.x
.null
$.missing
$.missing.x
(dict "a" 1).b
(dict "a" 1).b.c
(split "," "a")._5
(split "," "a")._5.x
(dict).x
.em.x
(first .el).x
(index .people 2).age
(index .people 2).age.x
.missing | print
print .missing
print .missing .missing
printf "%v" .missing
printf "%T" .missing
printf "%s" .missing
println .missing
.missing | quote
.missing | toString
.missing | default "d"
default "d" .missing
default .missing "d"
coalesce .missing "x"
empty .missing
.missing | empty
.missing | upper
upper .missing
.missing | toJson
toJson .missing
list .missing
list .missing 1 | toJson
dict "a" .missing | toJson
kindOf .missing
typeOf .missing
len .missing
index .missing 0
index . "missing"
index . "missing" "x"
index .m "missing"
get . "missing"
hasKey . "missing"
dig "missing" "x" "d" .
get .missing "a"
hasKey .missing "a"
keys .missing
merge (dict) .missing
set .missing "a" 1
eq .missing 1
eq .missing nil
eq .missing .missing
ne .missing "a"
lt .missing 1
not .missing
and .missing 1
or .missing 1
add .missing 1
int .missing
until .missing
join "," .missing
first .missing
has 1 .missing
ternary 1 2 .missing
cat "a" .missing "b"
trunc .missing "a"
html .missing
js .missing
urlquery .missing
call .missing
.missing 1
.m.missing 1
unixEpoch .missing
deepEqual .missing nil
"""
WHOLE = r"""
{{ if .missing }}a{{ else }}b{{ end }}
{{ if .m.missing.x }}a{{ else }}b{{ end }}
{{ with .missing }}a{{ else }}b{{ end }}
{{ with .missing }}{{ . }}{{ else with .s }}{{ . }}{{ end }}
{{ range .missing }}a{{ else }}b{{ end }}
{{ range $k, $v := .missing }}a{{ else }}b{{ end }}
{{ $x := .missing }}{{ $x }}
{{ $x := .missing }}{{ $x.y }}
{{ $x := .missing }}{{ if $x }}a{{ else }}b{{ end }}
{{ $x := .s }}{{ $x = .missing }}{{ $x }}
{{ template "t" .missing }}{{ define "t" }}[{{ . }}]{{ end }}
{{ template "t" . }}{{ define "t" }}[{{ .missing }}]{{ end }}
{{ range .people }}{{ .name }}{{ .age }};{{ end }}
{{ range .people }}{{ if .age }}{{ .age }}{{ end }};{{ end }}
{{ with .m }}{{ .missing }}{{ end }}
{{ block "b" .missing }}{{ . }}{{ end }}
{{ if not .missing }}a{{ end }}
{{ if and .s .missing }}a{{ else }}b{{ end }}
{{ if eq .missing "x" }}a{{ else }}b{{ end }}
{{ .s }}{{ .missing }}{{ .n }}
"""
