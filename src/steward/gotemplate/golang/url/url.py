"""Go's net/url: taking a URL apart and putting it together, with its error words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote
from steward.gotemplate.golang.url.escape import (
    FRAGMENT,
    HOST,
    PATH,
    USER,
    ZONE,
    escape,
    unescape,
    valid_encoded,
)
from steward.gotemplate.golang.url.netip import check_ipv6_literal

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+\-.]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORT = re.compile(r"(:[0-9]*)?\Z")
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")


@dataclass(slots=True)
class UserInfo:
    name: str
    password: str | None = None

    def __str__(self) -> str:
        text = escape(self.name, USER)
        return text if self.password is None else f"{text}:{escape(self.password, USER)}"


@dataclass(slots=True)
class Url:
    """The parts of a URL, decoded; the raw forms are kept where decoding lost something."""

    scheme: str = ""
    opaque: str = ""
    user: UserInfo | None = None
    host: str = ""
    path: str = ""
    raw_path: str = ""
    force_query: bool = False
    raw_query: str = ""
    fragment: str = ""
    raw_fragment: str = ""
    omit_host: bool = False

    def hostname(self) -> str:
        """The host without port and without the brackets of an IPv6 address."""
        colon = self.host.rfind(":")
        host = self.host[:colon] if colon >= 0 and _PORT.match(self.host[colon:]) else self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    def escaped_path(self) -> str:
        if self.raw_path and _still_true(self.raw_path, self.path, PATH):
            return self.raw_path
        return "*" if self.path == "*" else escape(self.path, PATH)

    def escaped_fragment(self) -> str:
        if self.raw_fragment and _still_true(self.raw_fragment, self.fragment, FRAGMENT):
            return self.raw_fragment
        return escape(self.fragment, FRAGMENT)

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        text += self.opaque or self._hierarchy(text)
        if self.force_query or self.raw_query:
            text += f"?{self.raw_query}"
        return f"{text}#{self.escaped_fragment()}" if self.fragment else text

    def _hierarchy(self, before: str) -> str:
        text = self._authority()
        path = self.escaped_path()
        if path and path[0] != "/" and self.host:
            text += "/"
        if not before and not text and ":" in path.split("/", 1)[0]:
            text = "./"
        return text + path

    def _authority(self) -> str:
        if not (self.scheme or self.host or self.user):
            return ""
        if self.omit_host and not self.host and not self.user:
            return ""
        text = "//" if self.host or self.path or self.user else ""
        if self.user:
            text += f"{self.user}@"
        return text + escape(self.host, HOST)


def _still_true(raw: str, decoded: str, allowed: frozenset[int]) -> bool:
    return valid_encoded(raw, allowed) and unescape(raw, allowed) == decoded


def parse_url(raw: str) -> Url:
    """Takes any reference, absolute or not."""
    before_fragment, _, fragment = raw.partition("#")
    try:
        url = _parse(before_fragment)
    except GoError as error:
        raise GoError(f"parse {quote(before_fragment)}: {error.text}") from None
    try:
        _set_fragment(url, fragment)
    except GoError as error:
        raise GoError(f"parse {quote(raw)}: {error.text}") from None
    return url


def _set_fragment(url: Url, raw: str) -> None:
    url.fragment = unescape(raw, FRAGMENT)
    url.raw_fragment = "" if escape(url.fragment, FRAGMENT) == raw else raw


def _parse(raw: str) -> Url:
    if _CONTROL.search(raw):
        raise GoError("net/url: invalid control character in URL")
    if raw == "*":
        return Url(path="*")
    scheme, rest = _split_scheme(raw)
    url = Url(scheme=scheme.lower())
    if rest.endswith("?") and rest.count("?") == 1:
        url.force_query, rest = True, rest[:-1]
    else:
        rest, _, url.raw_query = rest.partition("?")
    if not rest.startswith("/"):
        if url.scheme:
            url.opaque = rest
            return url
        if ":" in rest.split("/", 1)[0]:
            raise GoError("first path segment in URL cannot contain colon")
    _set_path(url, _take_authority(url, rest))
    return url


def _split_scheme(raw: str) -> tuple[str, str]:
    if raw.startswith(":"):
        raise GoError("missing protocol scheme")
    found = _SCHEME.match(raw)
    return (found.group(1), raw[found.end() :]) if found else ("", raw)


def _take_authority(url: Url, rest: str) -> str:
    if rest.startswith("//") and (url.scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        url.user, url.host = _parse_authority(url.scheme, authority)
        return slash + path
    url.omit_host = bool(url.scheme) and rest.startswith("/")
    return rest


def _set_path(url: Url, raw: str) -> None:
    url.path = unescape(raw, PATH)
    url.raw_path = "" if escape(url.path, PATH) == raw else raw


def _parse_authority(scheme: str, authority: str) -> tuple[UserInfo | None, str]:
    userinfo, at, host = authority.rpartition("@")
    parsed_host = _parse_host(scheme, host)
    if not at:
        return None, parsed_host
    if not _USERINFO.match(userinfo):
        raise GoError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    return UserInfo(unescape(name, USER), unescape(password, USER) if colon else None), parsed_host


def _parse_host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise GoError("invalid IP-literal")
    if bracket == 0:
        return _parse_bracketed(host)
    colon = host.find(":")
    if colon >= 0:
        # More than one colon is tolerated outside http, where the last one counts.
        _check_port(host[colon if scheme in ("http", "https") else host.rfind(":") :])
    return unescape(host, HOST)


def _check_port(text: str) -> None:
    if not _PORT.match(text):
        raise GoError(f"invalid port {quote(text)} after host")


def _parse_bracketed(host: str) -> str:
    close = host.rfind("]")
    if close < 0:
        raise GoError("missing ']' in host")
    _check_port(host[close + 1 :])
    address, percent, zone = host[1:close].partition("%25")
    name = unescape(address, HOST) + (unescape(percent + zone, ZONE) if percent else "")
    check_ipv6_literal(name)
    return f"[{name}]{host[close + 1 :]}"
