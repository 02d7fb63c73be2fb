"""Errors while running: line, column, the node and the template that Go names."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import templates


def cases() -> Iterator[Case]:
    yield from templates("position", POSITION)


POSITION = r"""
{{ .missing }}
a{{ .missing }}
é{{ .missing }}
\n\n  {{ .missing }}
{{ .s }}\n{{ .m.missing }}
{{ .m.c.missing }}
{{ .m.missing.x.y }}
{{ $.m.missing }}
{{ $x := .m }}{{ $x.missing }}
{{ $x := .m }}{{ $x.c.missing }}
{{ (.m).missing }}
{{ (dict "k" 1).z }}
{{ (index .people 0).z }}
{{ ((.m).c).missing }}
{{ print .missing }}
{{ print 1 .missing }}
{{ print (print .missing) }}
{{ .missing | print }}
{{ .s | print .missing }}
{{ .n | trunc 3 }}
{{ .s | trunc .n }}
{{ trunc 3 .n }}
{{ trunc "a" .s }}
{{ upper .n }}
{{ upper .null }}
{{ upper nil }}
{{ upper (list) }}
{{ upper (first .el) }}
{{ upper true }}
{{ upper 'a' }}
{{ upper 1.5 }}
{{ upper .s .s }}
{{ upper }}
{{ upper (upper .n) }}
{{ upper\n  .n }}
{{ fail "x" }}
{{ fail .s }}
{{ fail "a\nb" }}
{{ fail "" }}
{{ print 1 (fail "x") 2 }}
{{ .s | fail }}
{{ if fail "x" }}{{ end }}
{{ range fail "x" }}{{ end }}
{{ with fail "x" }}{{ end }}
{{ $x := fail "x" }}
{{ template "t" (fail "x") }}{{ define "t" }}{{ end }}
{{ define "t" }}\n {{ fail "x" }}{{ end }}{{ template "t" }}
{{ define "t" }}{{ .missing }}{{ end }}{{ template "t" . }}
{{ define "t" }}{{ template "u" . }}{{ end }}{{ define "u" }}{{ .missing }}{{ end }}{{ template "t" . }}
{{ block "b" . }}{{ .missing }}{{ end }}
{{ range .list }}{{ .x }}{{ end }}
{{ range .nums }}{{ upper . }}{{ end }}
{{ range $i, $v := .list }}{{ index $v $i $i }}{{ end }}
{{ with .s }}{{ .x }}{{ end }}
{{ if .s.x }}{{ end }}
{{ if eq .n 7 }}{{ end }}
{{ if lt .s 1 }}{{ end }}
{{ if and .t (eq .n 7) }}{{ end }}
{{ index .list 9 }}
{{ index .list 3 }}
{{ index .list "a" }}
{{ index .m 1 }}
{{ index .list 0 0 0 }}
{{ index (list 1 2)   5 }}
{{ len .n }}
{{ len 5 }}
{{ call .s }}
{{ .s 1 }}
{{ .m.a 1 2 }}
{{ .s.x 1 }}
{{ $x := 1 }}{{ $x 1 }}
{{ (1) 2 }}
{{ (print) 2 }}
{{ 1 2 }}
{{ "a" 1 }}
{{ true 1 }}
{{ 'a' 1 }}
{{ . 1 }}
{{ $ 1 }}
{{ template "nope" }}
\n{{ template "nope" . }}
{{ $x = 1 }}
{{ $x }}
{{ range 2.5 }}{{ end }}
{{ range .s }}{{ end }}
{{ range $i, $j := 5 }}{{ end }}
{{ range .t }}{{ end }}
{{ div 1 0 }}
{{ 1 | div 0 | print }}
{{ mod .n .zero }}
{{ first .n }}
{{ regexFind "(" "a" }}
{{ mustRegexFind "(" "a" }}
{{ semver "x" }}
{{ mustToDate "2006" "x" }}
{{ mustFromJson "x" }}
{{ substr 5 3 "hello" }}
{{ repeat -1 "a" }}
{{ slice .list 5 6 }}
{{ dig "a" "b" "c" .m }}
{{ get .s "a" }}
{{ set nil "a" 1 }}
{{ .m.set "a" }}
{{ ternary 1 2 .n }}
{{ until .n }}
{{ until (int64 1) }}
{{ until 1.5 }}
{{ until "a" }}
{{ until nil }}
{{ until .null }}
{{ print (until .null) | upper .s }}
{{ unixEpoch .s }}
{{ keys .list }}
{{ keys .m .list }}
{{ pluck "a" .m .s }}
{{ pick .m 1 }}
{{ omit .m "a" .n }}
{{ seq 1 .n }}
{{ round 1.5 .n }}
{{ round 1.5 1 "a" }}
{{ printf .n }}
{{ printf nil }}
{{ printf .null }}
{{ (printf "%d" 1).x }}
{{ (list 1 2).x }}
{{ (dict "a" nil).a.b }}
{{ .null.x }}
{{ .null.x.y }}
{{ (first .el).x }}
{{ (first .list).x }}
{{ .list.x }}
{{ .n.x }}
{{ .t.x }}
{{ .m.a.x }}
{{ .m.c.e.x }}
{{ .m.b.x | upper }}
{{ ( .m.b.x | upper ) }}
{{ print "a" | upper | trunc "x" }}
{{ "abc" | trunc 1 | index 5 }}
{{ .s | index .list }}
{{ not .missing.x }}
{{ or .no .missing }}
{{ eq .missing 1 }}
{{ eq 1 .list }}
{{ eq .list 1 }}
{{ eq .m .m }}
{{ lt .m .m }}
{{ lt 1 .null }}
{{ html .missing }}
{{- .missing -}}
{{-   upper    .n   -}}
{{ upper ( .n ) }}
{{ upper (.n | int) }}
{{ .n | int | upper }}
{{ "a\tb" | trunc "\u00e9\n" }}
{{ trunc `raw` .s }}
{{ trunc 0x10 .n }}
{{ trunc 1_0 .n }}
{{ trunc 'a' .n }}
{{ trunc 1e1 .n }}
{{ trunc -5 .n }}
{{ trunc +5 .n }}
{{ print true nil .missing }}
{{ print "a" 'b' 1.50 .missing }}
{{ upper (print "a" 'b' 1.50 true nil $ . .s $.s (.m).c | len) }}
{{ if upper .n }}{{ else }}{{ end }}
{{ if true }}\n{{ if true }}\n{{ upper .n }}{{ end }}{{ end }}
日本{{ upper .n }}
日本\n日本{{ upper .n }}
\t{{ upper .n }}
{{ $é := 1 }}{{ upper $é }}
{{ printf "%d" 1 | upper | trunc 5 | len | upper }}
{{ (upper "a") | trunc "b" }}
{{ .people.name }}
{{ (index .people 5).name }}
{{ range .people }}{{ .age }}{{ end }}
{{ range $p := .people }}{{ $p.age }}{{ end }}
{{ with index .people 2 }}{{ .age }}{{ end }}
{{ $.people.x }}
{{ upper $.n }}
{{ upper $.m.c }}
{{ print $.m.c.nope.x }}
{{ $x := .m.c }}{{ print $x.nope.y }}
"""
