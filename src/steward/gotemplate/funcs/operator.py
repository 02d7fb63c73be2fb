"""The tenant operator's own four, which hide sprig's functions of the same name."""

from __future__ import annotations

import re

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError
from steward.gotemplate.funcs.crypto.digests import sha1sum
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.funcs.text.encoding import must_from_json
from steward.gotemplate.funcs.text.strings import trunc
from steward.gotemplate.values.values import Value

table = Table()

# What nearly all texts look like: a URL without escapes, whose host is group 1, or a host with or without a path.
_USUAL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*://([A-Za-z0-9._~\-]+)(?::[0-9]*)?(?:/[A-Za-z0-9._~/\-]*)?\Z"
    r"|[A-Za-z0-9._~\-][A-Za-z0-9._~/\-]*\Z"
)

table.budgeted("sha1sum(string) string")(sha1sum)


@table.budgeted("toHost(string) string")
def to_host(budget: Budget, text: str) -> str:
    """The host name of a URL; of anything else, the text before the first colon."""
    usual = _USUAL.match(text)
    if usual is not None:
        return usual.group(1) or text
    from steward.gotemplate.golang.url.url import parse_url

    budget.work(len(text) // 2)
    try:
        url = parse_url(text)
    except GoError:
        return text.split(":", 1)[0]
    # A URL with a port and no host, such as http://:80, has an empty host name.
    return url.hostname() if url.host else text.split(":", 1)[0]


@table.function("trunc63(string) string")
def trunc63(text: str) -> str:
    """The first 63 bytes: what a Kubernetes label may hold."""
    return trunc(63, text)


@table.budgeted("fromJson(string) any")
def from_json(budget: Budget, text: str) -> Value:
    """Any JSON; an empty map for what is none."""
    try:
        return must_from_json(budget, text)
    except GoError:
        return {}
