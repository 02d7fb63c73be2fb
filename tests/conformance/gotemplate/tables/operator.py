"""The tenant operator's own four, and its typed three in the set `tenants`."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, templates

HOSTS = [
    "https://acme.example.com", "https://acme.example.com:8443/path?q=1", "acme.example.com", "acme.example.com:8080", "acme.example.com/path", "acme.example.com:80/path", "//acme.com/x", "", ":", ":80", "http://", "http://u:p@h:1/", "http://[::1]:80/",
    "[::1]:80", "ht!tp://x", "http://a b", "localhost", "localhost:3306", "1.2.3.4:5", "http://%zz", "mailto:x@y", "a:b:c", "HTTPS://UP.COM", "http://é.com:1", " http://x", "http://x ", "http://x:port",
]  # fmt: skip
TYPED = [
    '"42"',
    '"-7"',
    '"3.9"',
    '"x"',
    '""',
    '"true"',
    "true",
    "false",
    "1",
    "0",
    "2.5",
    ".n",
    ".null",
    ".list",
]
TRUTHS = [
    '"true"',
    '"TRUE"',
    '"1"',
    '"yes"',
    '"Yes"',
    '"on"',
    '"t"',
    '"y"',
    '"no"',
    '"0"',
    '"false"',
    '"off"',
    '""',
    '"2"',
    "1",
    "0",
    "2.5",
    "true",
    "false",
    ".n",
    ".zero",
]


def cases() -> Iterator[Case]:
    yield from call("toHost", [f'"{h}"' for h in HOSTS])
    yield from call(
        "trunc63",
        [
            '""',
            '"a"',
            '(repeat 63 "a")',
            '(repeat 64 "a")',
            '(repeat 32 "é")',
            '(repeat 21 "日")',
            '(repeat 22 "日")',
        ],
    )
    yield from call("sha1sum", ['""', '"test"', '"é"', '(trunc 1 "é")'])
    yield from actions("fromJson", FROM_JSON)
    yield from call("int", TYPED, functions="tenants")
    yield from call("float", TYPED[:5] + TYPED[6:13], functions="tenants")
    yield from call("bool", TRUTHS, functions="tenants")
    yield from actions("typed", WITH_TYPES, functions="tenants")
    yield from templates("tenants", TENANTS)


FROM_JSON = r"""
fromJson "{\"a\":1}"
fromJson "[1,2]"
fromJson "x"
fromJson ""
fromJson "x" | toJson
fromJson "x" | kindOf
(fromJson "x").a
(fromJson "{\"a\":{\"b\":\"c\"}}").a.b
fromJson "{\"a\":1} trailing" | toJson
fromJson "\"s\"" | upper
fromJson "true" | ternary 1 2
fromJson "5" | add 1
range fromJson "[1,2]" }}{{ . }},{{ end
get (fromJson "{\"a\":1}") "a"
get (fromJson "[1]") "a"
fromJson "null" | default "d"
fromJson .s | default "d"
fromJson 1
fromJson
toHost
toHost 1
toHost .url
trunc63 1
trunc63
sha1sum
sha1sum 1
.url | toHost | upper
"""
WITH_TYPES = r"""
int "5" | add 1
add (int "5") (int "2")
until (int "3")
int "5" | printf "%d %T"
int "3.99" | mul 2
float "2.5" | mulf 2
bool "yes" | ternary "y" "n"
if bool "no" }}a{{ else }}b{{ end
int
int 1 2
bool
float
float 1 2
print (int "1") (bool "on") (float "1.5")
list (int "1") (bool "t") | toJson
eq (int "1") 1
eq (float .n) 7.0
"""
TENANTS = r"""
{{ .s | replace " " "-" }}-app
{{ .s | replace " " "-" | trunc63 }}
{{ .url | toHost }}
{{ printf "%s-%s" (.s | replace " " "-") (sha1sum .url | trunc 8) }}
app: {{ .s | quote }}\nhost: {{ toHost .url }}\n
{{- if eq .num "42" }}pro{{ else }}free{{ end }}
{{ .num | default "1" | int | add 1 }}
{{ range $i, $e := splitList "," "a,b" }}- name: {{ $e }}-{{ $i }}\n{{ end }}
{{ with (fromJson "{\"tier\":\"gold\"}") }}{{ .tier | upper }}{{ end }}
{{ b64enc .s }} {{ .s | sha256sum | trunc 12 }}
"""
