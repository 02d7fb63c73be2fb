"""Parse errors of every kind."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import templates


def cases() -> Iterator[Case]:
    yield from templates("parse", PARSE)


PARSE = r"""
{{ if }}{{ end }}
{{ if true }}
{{ if true }}{{ else }}
{{ if true }}{{ else }}{{ else }}{{ end }}
{{ if true }}{{ else if }}{{ end }}
{{ if true }}{{ else if false }}{{ else }}{{ else }}{{ end }}
{{ if true }}{{ else x }}{{ end }}
{{ if true }}{{ end x }}
{{ if true }}{{ end }}{{ end }}
{{ end }}
{{ else }}
{{ else if true }}
{{ else with true }}
{{ range }}{{ end }}
{{ range .list }}
{{ range .list }}{{ else }}{{ else }}{{ end }}
{{ range .list }}{{ else if true }}{{ end }}
{{ range .list }}{{ else with true }}{{ end }}
{{ range $x }}{{ end }}
{{ range $i, }}{{ end }}
{{ range $i, $j }}{{ end }}
{{ range $i, $j, $k := .list }}{{ end }}
{{ range $i, 5 := .list }}{{ end }}
{{ range $i $j := .list }}{{ end }}
{{ range $i, $j = .list }}{{ end }}
{{ with }}{{ end }}
{{ with .m }}
{{ with .m }}{{ else }}{{ else }}{{ end }}
{{ with $a, $b := .m }}{{ end }}
{{ if $a, $b := .m }}{{ end }}
{{ break }}
{{ continue }}
{{ if true }}{{ break }}{{ end }}
{{ range .list }}{{ break 1 }}{{ end }}
{{ range .list }}{{ continue x }}{{ end }}
{{ range .list }}{{ else }}{{ break }}{{ end }}
{{ range .list }}{{ else }}{{ continue }}{{ end }}
{{ range .list }}{{ if true }}{{ break }}{{ else }}{{ continue }}{{ end }}{{ end }}
{{ range .list }}{{ define "x" }}{{ break }}{{ end }}{{ end }}
{{ range .list }}{{ block "x" . }}{{ break }}{{ end }}{{ end }}
{{ break | print }}
{{ print break }}
{{ nope }}
{{ nope.x }}
{{ .s | nope }}
{{ (nope) }}
{{ $x }}
{{ $x := nope }}
{{ $x := $x }}
{{ $x := 1 | $x }}
{{ $x = $y }}
{{ $ = 1 }}
{{ $x := 1, 2 }}
{{ $x, := 1 }}
{{ $x, $y = 1 }}
{{ $x := 1 := 2 }}
{{ 1 := 2 }}
{{ .x := 2 }}
{{ .x = 2 }}
{{ print = 2 }}
{{ = }}
{{ := }}
{{ , }}
{{ | }}
{{ || }}
{{ . | }}
{{ . | | print }}
{{ .s | 5 }}
{{ .s | "x" }}
{{ .s | nil }}
{{ .s | true }}
{{ .s | . }}
{{ .s | .n }}
{{ .s | $ }}
{{ .s | (print) }}
{{ .s | 'a' }}
{{ nil }}
{{ nil.x }}
{{ (nil) }}
{{ nil | print }}
{{ print nil.x }}
{{ true.x }}
{{ "a".x }}
{{ 1.x }}
{{ 1 .x }}
{{ 'a'.x }}
{{ . .x }}
{{ ..x }}
{{ .x..y }}
{{ .x. }}
{{ .x.1 }}
{{ .1x }}
{{ $.1 }}
{{ $x.1 }}
{{ .x$y }}
{{ .x"a" }}
{{ .x'a' }}
{{ .x(1) }}
{{ print"a" }}
{{ print(1) }}
{{ print(1)(2) }}
{{ (1)2 }}
{{ (1).x.y }}
{{ ().x }}
{{ (print }}
{{ print) }}
{{ ((1) }}
{{ (1)) }}
{{ print (1 | }}
{{ print ( }}
{{ print () }}
{{ "a }}
{{ "a\n" }}
{{ "a\q" }}
{{ "\xg" }}
{{ `a }}
{{ 'a }}
{{ '' }}
{{ 'ab' }}
{{ 1a }}
{{ 0x }}
{{ 1e }}
{{ 1_ }}
{{ 08 }}
{{ 99999999999999999999 }}
{{ 1+ }}
{{ 1+2 }}
{{ 1 + 2 }}
{{ 1-2 }}
{{ a-b }}
{{ - }}
{{ + }}
{{ -a }}
{{ * }}
{{ % }}
{{ ! }}
{{ ~ }}
{{ ? }}
{{ @x }}
{{ #x }}
{{ \ }}
{{ ^ }}
{{ & }}
{{ [1] }}
{{ {} }}
{{ <x> }}
{{ a,b }}
{{ a;b }}
{{ a:b }}
{{ é }}
{{ ✓ }}
{{ 日本 }}
{{ \x00 }}
{{
{{
{{ print
{{ print "a"
{{-
{{- -
{{/*
{{/* a
{{/* a */
{{/* a */ x }}
{{/* a */x}}
{{ /* a */ }}
{{ print /* a */ 1 }}
{{/* a */-}}
{{- /* a */-}}
{{ template }}
{{ template x }}
{{ template "x" 1 2 }}
{{ template "x" nope }}
{{ template "x" | }}
{{ template "x" nil }}
{{ template 1 }}
{{ template .x }}
{{ template "x
{{ define }}{{ end }}
{{ define x }}{{ end }}
{{ define "x" . }}{{ end }}
{{ define "x" }}
{{ define "x" }}{{ else }}{{ end }}
{{ define "x" }}{{ end }}{{ end }}
{{ define "x" }}{{ nope }}{{ end }}
{{ define "x" }}a{{ end }}{{ define "x" }}b{{ end }}
{{ if true }}{{ define "x" }}{{ end }}{{ end }}
{{ block }}{{ end }}
{{ block "x" }}{{ end }}
{{ block "x" . }}
{{ block x . }}{{ end }}
{{ block "x" . }}{{ else }}{{ end }}
{{ block "x" . | }}{{ end }}
{{ block "x" nil }}{{ end }}
a\nb\n{{ nope }}
a\nb\n{{ if }}
{{ if true }}\n\n{{ nope }}\n{{ end }}
{{ if true }}\n\n
{{ print\n"a"\nnope }}
{{ print\n\n"a }}
{{ "a\nb
{{ `a\nb` }}\n{{ nope }}
{{/* a\nb */}}\n{{ nope }}
{{- /* a\n*/ -}}\n\n{{ if }}
{{ define "x" }}\n{{ nope }}{{ end }}
{{ if true }}{{ range .x }}{{ with .y }}{{ end }}{{ end }}
{{ env "HOME" | nope }}
{{ print 1 2 }} {{ print (nope 1) }}
{{ if true }}}}{{ end }}
{{ "unterminated }} {{ "x" }}
{{ . }}{{ .
{{ .s | upper | | lower }}
{{ if .s | }}a{{ end }}
{{ range .s | }}a{{ end }}
{{ with $x := }}a{{ end }}
{{ range $i, $v := }}a{{ end }}
{{ range $v = .list }}{{ end }}
{{ if $x = 1 }}{{ end }}
{{ with $v = .list }}{{ end }}
{{ if := 1 }}{{ end }}
{{ else else }}
{{ if true }}{{ elseif }}{{ end }}
{{ if true }}{{ else\nif true }}x{{ end }}
{{ if true }}{{else if true}}{{else}}{{end}}
{{if true}}{{else  if true}}{{end}}
{{ range break }}{{ end }}
{{ endx }}
{{ end1 }}
{{ ifx }}
{{ ranges .x }}
{{ truex }}
{{ nilx }}
{{ .nil }} {{ .true }}
{{ print .nil }}
"""
