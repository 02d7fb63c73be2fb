"""The builtins of text/template that are not printing: and, or, not, html, js, urlquery, call, index, len, and their arguments."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call, templates

TRUTHS = [
    "0",
    "1",
    "0.0",
    '""',
    '"0"',
    "true",
    "false",
    ".null",
    ".el",
    ".list",
    ".em",
    ".m",
    "nil",
    "(list)",
    "(first .el)",
]
ESCAPES = [
    '"<&>\\"\'"',
    '"a\\x00b"',
    '"é✓"',
    '"</script>"',
    '"a=b&c d+e%"',
    '"\\\\ \\n\\r\\t\\u2028\\u2029"',
    '"😀"',
    ".html",
    ".n",
    ".list",
    ".m",
    "nil",
    ".null",
]


def cases() -> Iterator[Case]:
    for name in ("and", "or"):
        yield from call(name, TRUTHS, TRUTHS)
        yield from call(name, TRUTHS)
    yield from call("not", TRUTHS)
    yield from call("not", TRUTHS[:2], TRUTHS[:2])
    for name in ("html", "js", "urlquery"):
        yield from call(name, ESCAPES)
        yield from call(name, ESCAPES[:3], ESCAPES[-6:])
    yield from actions("builtins", MORE)
    yield from templates("short circuit", SHORT)


MORE = r"""
and
or
not
and 1
or 0
and 1 2 3
and 1 0 3
or 0 "" 3
or 0 "" nil
or .null .s
and .s .null
and true (index .list 99)
and false (index .list 99)
or true (index .list 99)
or false (index .list 99)
and 0 (fail "x")
or 1 (fail "x")
and 1 (fail "x")
1 | and 0
1 | or 0
0 | or 0
(fail "x") | or 1
index .list 99 | or 1
and .missing 1
or 1 .missing
and 1 .missing
not nil
not .missing
not
not 1 2
nil | not
.null | not
not (list)
html
html "<a>" "<b>"
html 1 "<" 2
html "a" 1 2 "b"
js
js "'" 1
js "\u0000\u001f=&<>"
js "日本\u00ad\u0600\ue000"
urlquery
urlquery "a b" "c&d"
urlquery 1 2
urlquery "日本/?#"
urlquery "~!*()'-_."
html (list "<a>")
html (dict "<k>" "<v>")
.html | html | html
.html | js
.html | urlquery
call
call nil
call .null
call .s
call 1
call .m
call .s 1
call "upper" "a"
call .missing
call (list)
call (dict) 1
call upper "a"
html nil
js nil
urlquery nil
html .null .null
print (html "<") (js "<")
eq (html "<") "&lt;"
len (html "<")
"""
SHORT = r"""
{{ if and .s (gt (len .s) 3) }}y{{ else }}n{{ end }}
{{ if or .no .t }}y{{ end }}
{{ if and .list (index .list 0) }}y{{ end }}
{{ if and .el (index .el 0) }}y{{ else }}n{{ end }}
{{ if not (or .no .null) }}y{{ end }}
{{ $x := and .s .n }}{{ $x }}
{{ $x := or .e .null "d" }}{{ $x }}
{{ with or .null .m }}{{ .b }}{{ end }}
{{ and (eq .n 7.0) "yes" | upper }}
{{ or .missing "x" }}
{{ and .no .missing }}
{{ or .t .missing.foo }}
{{ and (print "a") | or "" | quote }}
"""
