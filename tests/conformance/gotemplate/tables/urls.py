"""net/url as urlParse and urlJoin show it."""

# ruff: noqa: E501 -- tables are read by row

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from .grid import actions, call

URLS = [
    "https://u:p@ex.com:8080/p/q?a=1&b=2#frag", "http://ex.com", "http://ex.com/", "ex.com/path", "/abs/path?x", "mailto:a@b.c", "", "http://", "http://[::1]:80/x", "http://[::1", "http://ex.com:port/", "http://ex.com:/",
    "http://a b.com", "http://ex.com/a b", "http://ex.com/%zz", "http://ex.com/%41%2F", "http://%41.com/", "ht!tp://x", "1http://x", ":x", "//host/path", "http://u@h", "http://u:@h", "http://:p@h", "http://u%40:p%3a@h/", "http://é.com/日?é#é",
    "http://h?q", "http://h#", "http://h?", "http://h/?a=b?c#d#e", "http://h/a%2fb", "file:///etc/x", "urn:isbn:1", "http://u:p:q@h", "http://u@v@h", "http://h/a\\\\b", "a:b:c", "a/b:c", "http://h:80:90/", "http://[fe80::1%25en0]/", "http://[fe80::1%en0]/",
    "HTTP://H/P", "http://h/\\x7f", "http://h\\n/", "*", "http://h/*?*", "http:path", "http:/path", "http:///path", "http://h//a//b", "http://u:p@/x", "http://h/;a=b", "http://h?a=%zz", "http://h#%zz", "http://h#a%20b", "http://<x>/", "http://h|x/",
    "http://1.2.3.4:5/", "postgres://user:pa$$@db:5432/name?sslmode=disable", "a%20b", "http://[::1]x/", "http://[::1]:x/",
]  # fmt: skip
FIELDS = ["scheme", "host", "path", "query", "opaque", "fragment", "userinfo", "hostname"]
VALUES = ['""', '"x"', '"a b"', '"é"', '"/p q"', '"u:p@"', '"%zz"', '"a#b?c"', '"a:b"', '"//x"']


def cases() -> Iterator[Case]:
    quoted = [f'"{u}"' for u in URLS]
    yield from call("urlParse", quoted)
    yield from call("toHost", quoted)
    for url in quoted:
        yield from actions("urlJoin", f"urlParse {url} | urlJoin")
    for field in FIELDS:
        yield from call("urlJoin", [f'(dict "{field}" {v})' for v in VALUES])
        yield from call(
            "urlJoin", [f'(dict "scheme" "http" "host" "h" "path" "/p" "{field}" {v})' for v in VALUES]
        )
    yield from actions("urls", MORE)


MORE = r"""
urlJoin (dict)
urlJoin (dict "scheme" 1)
urlJoin (dict "host" nil)
urlJoin (dict "host" (list))
urlJoin (dict "path" 1.5)
urlJoin (dict "host" "h" "path" "p")
urlJoin (dict "path" "a:b")
urlJoin (dict "path" "a/b:c")
urlJoin (dict "path" "//a")
urlJoin (dict "scheme" "s" "path" "//a")
urlJoin (dict "scheme" "mailto" "opaque" "a@b")
urlJoin (dict "userinfo" "u:p" "host" "h" "scheme" "s")
urlJoin (dict "userinfo" "u" "host" "h")
urlJoin (dict "userinfo" "a b:c d" "host" "h")
urlJoin (dict "userinfo" "é" "host" "h")
urlJoin (dict "userinfo" "a/b" "host" "h")
urlJoin (dict "fragment" "a b" "query" "x y")
urlJoin nil
urlJoin (first .el)
(urlParse .url).host
(urlParse .url).hostname
(urlParse .url).nope
(urlParse .url).userinfo
urlParse .url | toJson
urlParse .url | keys
urlParse .url | typeOf
set (urlParse .url) "host" "other" | urlJoin
"""
