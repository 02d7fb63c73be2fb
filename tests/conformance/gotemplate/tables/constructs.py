"""The language itself, construct by construct, whole templates."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, case
from .grid import templates

DELIMS = ("<< >>", "[[ ]]", "{% %}", "<!-- -->", "é ✓", "{{ ]]", "( )", "<< ", " >>", "| |", "$ $", ". .")
TRIM = ["{{", "{{- "]
END = ["}}", " -}}"]


def cases() -> Iterator[Case]:
    for group, text in GROUPS.items():
        yield from templates(group, text)
    for delims in DELIMS:
        yield from _delimited(delims)
    for left in TRIM:
        for right in END:
            yield from _trimmed(left, right)


def _delimited(delims: str) -> Iterator[Case]:
    left, _, right = delims.partition(" ")
    for line in DELIMITED.strip().splitlines():
        text = line.replace("L", left or "{{").replace("R", right or "}}")
        yield from templates("custom delimiters", text, delims=delims)


def _trimmed(left: str, right: str) -> Iterator[Case]:
    for body in (
        '"x"',
        "/* c */",
        "if true" + right + " y " + left + "end",
        "range .nums" + right + " . " + left + "end",
    ):
        for space in ("", " ", "\n", " \t\r\n ", "\v", "\u00a0", "  a  "):
            yield case("trim", f"a{space}{left}{body}{right}{space}b")


GROUPS = {
    "text": r"""
plain
{ not a template }
{{"a"}}{{`b`}}
}} stray }}
{{/* comment */}}x
{{- /* comment */ -}} x
a {{- /* multi\nline */ -}} b
{{/**/}}
{{/* */}}{{/* /* */}}
x{{/* a */ -}} y
x {{- /* a */}} y
é{{"é"}}日本
{{"{{"}}{{`}}`}}
a\n{{ 1 }}\nb
{{ 1}}{{2 }}{{3}}
{{\n1\n}}
{{ 1 | \n print 2 }}
{{ print\n"a"\n"b" }}
""",
    "if": r"""
{{ if .t }}a{{ end }}
{{ if .no }}a{{ else }}b{{ end }}
{{ if .no }}a{{ else if .t }}b{{ else }}c{{ end }}
{{ if .no }}a{{ else if .null }}b{{ else if .e }}c{{ else }}d{{ end }}
{{ if .no }}a{{ else if .null }}b{{ else if .e }}c{{ end }}
{{ if $x := .s }}{{ $x }}{{ end }}
{{ if $x := .e }}a{{ else }}[{{ $x }}]{{ end }}
{{ if $x := .e }}a{{ else if $y := .n }}[{{ $x }}{{ $y }}]{{ else }}{{ $x }}{{ $y }}{{ end }}
{{ if 0 }}a{{ else }}b{{ end }}{{ if 0.0 }}a{{ else }}b{{ end }}{{ if "" }}a{{ else }}b{{ end }}{{ if "0" }}a{{ end }}
{{ if .el }}a{{ else }}b{{ end }}{{ if .em }}a{{ else }}b{{ end }}{{ if .list }}a{{ end }}{{ if .m }}a{{ end }}
{{ if 1i }}a{{ end }}{{ if 0i }}a{{ else }}b{{ end }}
{{ if (toDate "2006" "x") }}a{{ else }}b{{ end }}
{{ if (semver "0.0.0") }}a{{ end }}
{{ if (first .el) }}a{{ else }}b{{ end }}
{{ if (rest (list)) }}a{{ else }}b{{ end }}
{{ if not .t }}a{{ else }}b{{ end }}
{{ if eq .s "x" }}a{{ else if eq .n 7.0 }}b{{ end }}
{{ if .t }}{{ if .no }}a{{ else }}b{{ end }}{{ else }}c{{ end }}
{{ if true }}{{ $x := 1 }}{{ $x }}{{ end }}
{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}
{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ end }}{{ $x }}
{{ if true }}{{ else }}{{ end }}|
{{ if $ }}a{{ end }}
{{ if . }}a{{ end }}
{{ if .f.x }}a{{ end }}
{{ if true | not }}a{{ else }}b{{ end }}
{{ if ( and true true ) }}a{{ end }}
""",
    "with": r"""
{{ with .m }}{{ .b }}{{ end }}
{{ with .e }}a{{ else }}{{ .s }}{{ end }}
{{ with .null }}a{{ else with .s }}{{ . }}{{ end }}
{{ with .null }}a{{ else with .e }}b{{ else }}c{{ .n }}{{ end }}
{{ with $x := .m }}{{ $x.b }} {{ .b }} {{ $.s }}{{ end }}
{{ with $x := .e }}a{{ else }}[{{ $x }}]{{ end }}
{{ with $x := .e }}a{{ else with $y := .s }}[{{ $x }}{{ $y }}]{{ end }}
{{ with .m.c }}{{ with .d }}{{ . }}{{ end }}{{ .e }}{{ end }}
{{ with 1 }}{{ . }}{{ end }}{{ with 0 }}a{{ else }}{{ $.n }}{{ end }}
{{ with .s }}{{ $ }}{{ end }}
{{ with $x := 1 }}{{ $x = 2 }}{{ $x }}{{ end }}
{{ with .list }}{{ index . 0 }}{{ end }}
{{ with (dict "a" 1) }}{{ .a }}{{ end }}
{{ with .m }}{{ $.n }}{{ .nope }}{{ end }}
{{ with .s | upper }}{{ . }}{{ end }}
{{ with .m }}{{ template "t" . }}{{ end }}{{ define "t" }}{{ .b }}{{ end }}
{{ with nil }}a{{ end }}
{{ with .null }}a{{ else if .t }}b{{ end }}
{{ if .null }}a{{ else with .t }}b{{ end }}
""",
    "range": r"""
{{ range .list }}{{ . }},{{ end }}
{{ range $i, $v := .list }}{{ $i }}={{ $v }},{{ end }}
{{ range $v := .list }}{{ $v }},{{ end }}
{{ range .el }}a{{ else }}empty{{ end }}
{{ range .null }}a{{ else }}empty{{ end }}
{{ range nil }}a{{ else }}empty{{ end }}
{{ range .em }}a{{ else }}empty{{ end }}
{{ range $k, $v := .m }}{{ $k }}={{ $v }};{{ end }}
{{ range $k, $v := .em }}a{{ else }}{{ $.s }}{{ end }}
{{ range 3 }}{{ . }}{{ end }}
{{ range $i := 3 }}{{ $i }}{{ end }}
{{ range $i, $j := 3 }}{{ $i }}{{ $j }}{{ end }}
{{ range 0 }}a{{ else }}b{{ end }}
{{ range -2 }}a{{ else }}b{{ end }}
{{ range (int64 2) }}{{ . | printf "%T" }}{{ end }}
{{ range len .list }}{{ . }}{{ end }}
{{ range 2.0 }}a{{ end }}
{{ range .n }}a{{ end }}
{{ range .s }}a{{ end }}
{{ range .t }}a{{ end }}
{{ range 'a' }}x{{ end }}
{{ range until 3 }}{{ . }}{{ end }}
{{ range split "," "a,b" }}{{ . }}{{ end }}
{{ range $k, $v := split "," "a,b" }}{{ $k }}{{ $v }}{{ end }}
{{ range .nested }}[{{ range . }}{{ . }}{{ else }}none{{ end }}]{{ end }}
{{ range $i, $r := .nested }}{{ range $j, $x := $r }}{{ $i }}{{ $j }}{{ $x }} {{ end }}{{ end }}
{{ range .list }}{{ if eq . "a" }}{{ continue }}{{ end }}{{ . }}{{ end }}
{{ range .list }}{{ if eq . "a" }}{{ break }}{{ end }}{{ . }}{{ end }}
{{ range .list }}{{ break }}{{ else }}b{{ end }}|
{{ range .nested }}{{ range . }}{{ break }}{{ end }}x{{ end }}
{{ range .nested }}{{ range . }}{{ if eq . 2.0 }}{{ continue }}{{ end }}{{ . }}{{ end }}{{ end }}
{{ range $i, $v := .list }}{{ with $v }}{{ if eq $i 1 }}{{ break }}{{ end }}{{ . }}{{ end }}{{ end }}
{{ range $v := .list }}{{ $v = "x" }}{{ $v }}{{ end }}
{{ $s := "" }}{{ range .list }}{{ $s = print $s . }}{{ end }}{{ $s }}
{{ $n := 0 }}{{ range .nums }}{{ $n = add $n . }}{{ end }}{{ $n }}
{{ $i := 9 }}{{ range $i, $v := .list }}{{ end }}{{ $i }}
{{ $i := 9 }}{{ $v := 8 }}{{ range $i, $v = .list }}{{ end }}{{ $i }}{{ $v }}
{{ $v := 8 }}{{ range $v = .list }}{{ end }}{{ $v }}
{{ $i := 0 }}{{ range $i = 3 }}{{ $i }}{{ end }}{{ $i }}
{{ range $i, $v := .el }}a{{ else }}{{ $i }}{{ $v }}{{ end }}
{{ range $p := .people }}{{ $p.name }} {{ end }}
{{ range .people }}{{ .name }}:{{ .age }} {{ end }}
{{ range .people }}{{ .name }}:{{ get . "age" | default 0 }} {{ end }}
{{ range .mixed }}{{ . }};{{ end }}
{{ range .mixed }}{{ printf "%T" . }};{{ end }}
{{ range first .el }}a{{ else }}b{{ end }}
{{ range rest (list) }}a{{ else }}b{{ end }}
{{ range $x := .list | reverse }}{{ $x }}{{ end }}
{{ range (list 1 2) | reverse }}{{ . }}{{ end }}
{{ range $k, $_ := .m }}{{ $k }}{{ end }}
{{ range $k := .m }}{{ $k }}{{ end }}
{{ range chunk 2 .list }}{{ . }}{{ end }}
{{ range toDate "2006" "2024" }}a{{ end }}
{{ range semver "1.2.3" }}a{{ end }}
{{ range 1i }}a{{ end }}
{{ range .list }}{{ $ | kindOf }}{{ end }}
{{ range $ }}x{{ end }}
{{ range . }}{{ kindOf . }},{{ end }}
{{ range $i, $c := splitList "" "héy" }}{{ $i }}{{ $c }}{{ end }}
{{ range $i, $e := list nil nil }}{{ $i }}{{ $e }}{{ end }}
{{ range $a, $b, $c := .list }}{{ end }}
{{ range $i, $v := .list }}{{ if $i }},{{ end }}{{ $v }}{{ end }}
{{ range .list }}{{ range $.nums }}{{ . }}{{ end }}{{ . }}{{ end }}
{{ range $i := until 3 }}{{ range $j := until $i }}{{ $j }}{{ end }};{{ end }}
{{ range .list }}{{ template "t" . }}{{ end }}{{ define "t" }}<{{ . }}>{{ end }}
{{ range $x := 2 }}{{ $x | printf "%T" }}{{ end }}
""",
    "variables": r"""
{{ $x := 1 }}{{ $x }}
{{ $x := 1 }}{{ $x = 2 }}{{ $x }}
{{ $x := 1 }}{{ $x = "a" }}{{ $x }}
{{ $x := 1 }}{{ $x := $x }}{{ $x }}
{{ $x := .m }}{{ $x.c.d }}
{{ $x := .m }}{{ $x.nope }}
{{ $x := .list }}{{ index $x 0 }}
{{ $x := .null }}{{ $x }}
{{ $x := .null }}{{ $x.a }}
{{ $x := (first .el) }}{{ $x }}
{{ $x := (first .el) }}{{ $x.a }}
{{ $_ := 1 }}{{ $_ }}
{{ $é := 1 }}{{ $é }}
{{ $x1_y := 1 }}{{ $x1_y }}
{{ $ := 1 }}{{ $ }}
{{ $.s }}
{{ $ | kindOf }}
{{ $x = 1 }}
{{ $x }}
{{ $x.y }}
{{ $x := 1 }}{{ $y }}
{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}
{{ range .list }}{{ $x := . }}{{ end }}{{ $x }}
{{ with .m }}{{ $x := 1 }}{{ end }}{{ $x }}
{{ define "t" }}{{ $x }}{{ end }}{{ $x := 1 }}{{ template "t" }}
{{ define "t" }}{{ $ }}{{ end }}{{ template "t" "a" }}{{ $.s }}
{{ $x := print "a" | upper }}{{ $x }}
{{ $x := 1 | add 2 }}{{ $x }}
{{ $x, $y := 1 }}
{{ $x := $y := 1 }}
{{ $x := }}
{{ $x := 1 }}{{ $x := 2 }}{{ $x }}
{{ $x := "a" }}{{ with $x }}{{ $x = "b" }}{{ . }}{{ end }}{{ $x }}
{{ $x:=1 }}{{$x}}
{{ $x :=1 }}{{$x}}
{{ $x= 1 }}
{{ $x := nil }}
{{ $x := (nil) }}
{{ $x := 1 }}{{ ($x) }}
{{ $x := 1 }}{{ $x | print }}
{{ $f := .f }}{{ $f }}
{{ $x := dict "a" (list 1 2) }}{{ index $x.a 1 }}
{{ $x := 5 }}{{ $x.foo }}
{{ $x := 5 }}{{ $x.foo.bar }}
{{ $x := "s" }}{{ $x 1 }}
{{ $x := .s }}{{ $x "a" }}
""",
    "define": r"""
{{ define "t" }}T{{ . }}{{ end }}{{ template "t" 1 }}
{{ define "t" }}T{{ . }}{{ end }}{{ template "t" }}
{{ define "t" }}T{{ .s }}{{ end }}{{ template "t" . }}
{{ template "t" . }}{{ define "t" }}later {{ .n }}{{ end }}
{{ template "nope" }}
{{ template "nope" . }}
{{ if false }}{{ template "nope" }}{{ end }}ok
{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ . }}{{ end }}{{ template "a" "x" }}
{{ define "t" }}1{{ end }}{{ define "t" }}2{{ end }}{{ template "t" }}
{{ define "t" }}1{{ end }}{{ define "t" }}  {{ end }}{{ template "t" }}
{{ define "t" }}  {{ end }}{{ define "t" }}2{{ end }}{{ template "t" }}
{{ define "t" }}{{ end }}{{ template "t" }}|
{{ define "t" }}{{ /* c */ }}{{ end }}{{ define "t" }}2{{ end }}{{ template "t" }}
{{ define "t" }}{{ /* c */ -}} {{ end }}x
{{ block "b" . }}B{{ .n }}{{ end }}
{{ block "b" 5 }}B{{ . }}{{ end }}{{ template "b" 6 }}
{{ define "b" }}D{{ end }}{{ block "b" . }}B{{ end }}
{{ block "b" . }}B{{ end }}{{ define "b" }}D{{ end }}
{{ block "b" . }}B{{ end }}{{ block "b" . }}C{{ end }}
{{ block "b" . }}{{ end }}{{ define "b" }}D{{ end }}{{ template "b" }}
{{ define "template" }}X{{ end }}body
{{ define "template" }}X{{ end }}
{{ define "t" }}{{ if . }}{{ . }}{{ template "t" (rest .) }}{{ end }}{{ end }}{{ template "t" .list }}
{{ define "t" }}{{ .x }}{{ end }}{{ template "t" . }}
{{ define "t" }}{{ fail "no" }}{{ end }}{{ template "t" . }}
{{ define "t" }}a{{ end }}{{ $x := "t" }}{{ template $x }}
{{ template "t" 1 2 }}
{{ template }}
{{ template t }}
{{ template "t" | print }}
{{ define "t" }}{{ . }}{{ end }}{{ template "t" 1 | add 1 }}
{{ define "t" }}{{ . }}{{ end }}{{ template "t" (add 1 2) }}
{{ define "t" }}{{ range . }}{{ . }}{{ end }}{{ end }}{{ template "t" .nums }}
{{ define `raw` }}R{{ end }}{{ template `raw` }}
{{ define "a b" }}R{{ end }}{{ template "a b" }}
{{ define "é\n" }}R{{ end }}{{ template "é\n" }}{{ template "no\n" }}
{{ define "t" }}{{ define "u" }}x{{ end }}{{ end }}
{{ if true }}{{ define "u" }}x{{ end }}{{ end }}
{{ block "o" . }}{{ block "i" . }}I{{ end }}{{ end }}{{ template "i" }}
{{ define t }}x{{ end }}
{{ define "t" "u" }}x{{ end }}
{{ define }}x{{ end }}
{{ define "t" }}x
{{ block "b" }}x{{ end }}
{{ block b . }}x{{ end }}
{{ define "t" -}} x {{- end }}[{{ template "t" }}]
{{ define "t" }}{{ break }}{{ end }}{{ range .list }}{{ template "t" }}{{ end }}
{{ define "t" }}{{ $ }}{{ end }}{{ with .m }}{{ template "t" .b }}{{ end }}
{{ with .m }}{{ template "t" }}{{ end }}{{ define "t" }}[{{ . }}]{{ end }}
{{ define "t" }}{{ . }}{{ end }}{{ template "t" .null }}
{{ define "t" }}{{ . }}{{ end }}{{ template "t" nil }}
{{ define "t" }}{{ .x }}{{ end }}{{ template "t" nil }}
{{ define "t" }}{{ .x }}{{ end }}{{ template "t" }}
""",
    "trimming": r"""
a  {{- 1 -}}  b
a \n\t {{- 1 -}} \r\n b
{{- 1 }} {{ 2 -}}
a {{-1}} b
a {{- -1 }} b
{{ 3 -}} {{- 4 }}
{{ 3 -}}{{- 4 }}
{{3-}}
{{ 3-}}
{{-}}
{{- }}
{{ - }}
{{- -}}
{{ -}}
{{-  "a"  -}}
{{if true -}} x {{- end}} y
{{range .nums -}} {{.}} {{- end}}
{{- if true }} x {{ else -}} y {{ end -}} z
a\n{{- /* c */ -}}\nb
a {{/* c */ -}} b
a {{- /* c */}} b
{{/* c */-}} x
{{/*c*/ }}x
{{ /* c */ }}x
{{- /*c*/}}x
{{-/*c*/}}x
{{/* unclosed
{{/* a */ 1 }}
{{ 1 /* a */ }}
{{ "a" -}}\n\n\n{{- "b" }}
\n\n{{- "b" -}}\n\n
""",
    "delimiters": r"""
{{
}}
{{}}
{{ }}
{{ "a }}
{{ "a"
{{ `a
{{ 'a
{{ 'ab' }}
{{ "a\nb" }}
{{ "}}" }}
{{ `}}` }}
{{ `{{` }}
{{{ 1 }}}
{{ {1} }}
{{ 1 }
{{ 1 }}}
a {{ b
{{ ( }}
{{ ) }}
{{ (1 }}
{{ 1) }}
{{ ((1)) }}
{{ ( 1 ) }}
{{ () }}
{{ (1)(2) }}
{{ print (1)(2) }}
{{ print(1) }}
{{ print "a""b" }}
{{ print 1"b" }}
{{ print .s.n }}
{{ print .s .n }}
{{ print .s(1) }}
{{ print(.s)(.n) }}
""",
}
DELIMITED = r"""
a L .s R b
L if .t Ry L else Rn L end R
a L- .s -R b
L/* c */R
a L- /* c */ -R b
L .nope R
L nope R
{{ .s }} L .n R
L .s
L "R" R
L .s | upper R L range .list RL . RL end R
x R y
L define "t" Rx L end RL template "t" R
L (print 1) R
"""
