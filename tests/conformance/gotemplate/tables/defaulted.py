"""The mode `defaulted`, which Go does not have, told in Go's terms: a missing key is what missingkey=default makes of it
where it is rescued, and what missingkey=error makes of it everywhere else.
"""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import templates


def cases() -> Iterator[Case]:
    yield from templates("rescued", RESCUED, missingkey="default")
    yield from templates("refused", REFUSED, missingkey="error")


RESCUED = r"""
{{ .missing | default "d" }}
{{ default "d" .missing }}
{{ default .missing "d" }}
{{ default .missing "" }}
{{ .m.missing | default "d" }}
{{ .missing.x | default "d" }}
{{ .missing.x.y | default "d" }}
{{ default "d" .m.missing.x }}
{{ $.missing | default 5 }}
{{ $x := .m }}{{ $x.missing | default "d" }}
{{ (dict "a" 1).b | default "d" }}
{{ .missing | default "d" | upper }}
{{ .missing | default .s | upper | quote }}
{{ .missing | default .null }}
{{ coalesce .missing .null "x" }}
{{ coalesce .missing .m.missing }}
{{ coalesce .missing .missing.x .s }}
{{ .missing | coalesce .null }}
{{ empty .missing }}
{{ .missing | empty }}
{{ empty .m.missing.x }}
{{ not (empty .missing) }}
{{ if empty .missing }}a{{ else }}b{{ end }}
{{ index .missing "a" }}
{{ index . "missing" }}
{{ index .m "missing" }}
{{ index .m .missing }}
{{ index .m.missing "a" }}
{{ get . "missing" }}
{{ get .missing "a" }}
{{ get .m .missing }}
{{ hasKey . "missing" }}
{{ hasKey .missing "a" }}
{{ .missing | hasKey .m }}
{{ dig "missing" "x" "d" . }}
{{ dig "a" .missing .m }}
{{ dig "a" "d" .missing }}
{{ .missing | dig "a" "d" }}
{{ if .missing }}a{{ end }}
{{ if .missing }}a{{ else }}b{{ end }}
{{ if .missing.x }}a{{ else }}b{{ end }}
{{ if .m.missing }}a{{ else if .missing }}b{{ else }}c{{ end }}
{{ if .s }}a{{ else if .missing }}b{{ end }}
{{ if $x := .missing }}a{{ else }}b{{ end }}
{{ with .missing }}a{{ else }}b{{ end }}
{{ with .m.missing }}a{{ else with .missing }}b{{ else }}c{{ end }}
{{ with $x := .missing }}a{{ else }}b{{ end }}
{{ with .missing }}{{ .x }}{{ end }}ok
{{ range .people }}{{ .age | default 0 }};{{ end }}
{{ range .people }}{{ if .age }}{{ .age }}{{ end }};{{ end }}
{{ define "t" }}{{ .missing | default "d" }}{{ end }}{{ template "t" . }}
{{ block "b" . }}{{ if .missing }}a{{ else }}b{{ end }}{{ end }}
{{ (split "," "a")._5 | default "d" }}
{{ .missing | default (list 1 2) | join "," }}
{{ $x := .missing | default "d" }}{{ $x }}
{{ print (default "d" .missing) }}
{{ print (.missing | default "d") }}
{{ .s | default .missing }}
{{ .null.x | default "d" }}
{{ .s.x | default "d" }}
"""
REFUSED = r"""
{{ .missing }}
{{ .m.missing }}
{{ .missing.x }}
{{ $.missing }}
{{ $x := .missing }}{{ $x }}
{{ print .missing }}
{{ .missing | print }}
{{ .missing | quote | default "d" }}
{{ .missing | upper | default "d" }}
{{ default "d" (upper .missing) }}
{{ default "d" (print .missing) }}
{{ if not .missing }}a{{ end }}
{{ if and .missing .s }}a{{ end }}
{{ if or .missing .s }}a{{ end }}
{{ if eq .missing "x" }}a{{ end }}
{{ if .missing | not }}a{{ end }}
{{ if upper .missing }}a{{ end }}
{{ with print .missing }}a{{ end }}
{{ with .s }}{{ $.missing }}{{ end }}
{{ range .missing }}a{{ end }}
{{ range $k, $v := .missing }}a{{ end }}
{{ template "t" .missing }}{{ define "t" }}{{ . }}{{ end }}
{{ template "t" . }}{{ define "t" }}{{ .missing }}{{ end }}
{{ (split "," "a")._5 }}
{{ (dict "a" 1).b }}
{{ list .missing }}
{{ toJson .missing }}
{{ ternary .missing "a" true }}
{{ .s | trunc .missing }}
{{ .s | print .missing }}
{{ len .missing }}
{{ keys .missing }}
{{ kindOf .missing }}
{{ printf "%v" .missing }}
{{ all .missing }}
{{ any .missing }}
{{ not .missing }}
{{ and .missing 1 }}
{{ .missing | or 1 }}
{{ pluck "a" .missing }}
{{ set .m "k" .missing }}
{{ dict "k" .missing }}
{{ range .people }}{{ .age }};{{ end }}
{{ $x := .s }}{{ $x = .missing }}
{{ hasPrefix .missing "a" }}
{{ .s }}
"""
