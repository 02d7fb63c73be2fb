"""urlParse takes a URL apart into a map, urlJoin puts such a map together."""

from __future__ import annotations

from steward.gotemplate.budget import Budget
from steward.gotemplate.errors import GoError, GoPanic
from steward.gotemplate.funcs.registry import Table
from steward.gotemplate.values.values import Value, kind_of

table = Table()


@table.budgeted("urlParse(string) map[string]any")
def url_parse(budget: Budget, text: str) -> dict[str, Value]:
    from steward.gotemplate.golang.url.url import parse_url

    budget.work(len(text) // 2)
    try:
        url = parse_url(text)
    except GoError as error:
        raise GoPanic(f"unable to parse url: {error.text}") from None
    return {
        "scheme": url.scheme,
        "host": url.host,
        "hostname": url.hostname(),
        "path": url.path,
        "query": url.raw_query,
        "opaque": url.opaque,
        "fragment": url.fragment,
        "userinfo": str(url.user) if url.user else "",
    }


@table.budgeted("urlJoin(map[string]any) string")
def url_join(budget: Budget, parts: dict[str, Value]) -> str:
    from steward.gotemplate.golang.url.url import Url, parse_url

    budget.work(sum(len(part) for part in parts.values() if isinstance(part, str)) // 2)
    url = Url(
        scheme=_part(parts, "scheme"),
        host=_part(parts, "host"),
        path=_part(parts, "path"),
        raw_query=_part(parts, "query"),
        opaque=_part(parts, "opaque"),
        fragment=_part(parts, "fragment"),
    )
    userinfo = _part(parts, "userinfo")
    if userinfo:
        try:
            url.user = parse_url(f"proto://{userinfo}@host").user
        except GoError as error:
            raise GoPanic(f"unable to parse userinfo in dict: {error.text}") from None
    return str(url)


def _part(parts: dict[str, Value], key: str) -> str:
    value = parts.get(key, "")
    if isinstance(value, str):
        return value
    if value is None:
        raise GoPanic("runtime error: invalid memory address or nil pointer dereference")
    raise GoPanic(f"unable to parse {key} key, must be of type string, but {kind_of(value)} found")
