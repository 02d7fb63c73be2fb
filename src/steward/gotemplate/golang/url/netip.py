"""Go's net/netip: whether a text is an IP address, and why not, in its words."""

from __future__ import annotations

import re

from steward.gotemplate.errors import GoError
from steward.gotemplate.golang.quote import quote

_GROUP = re.compile(r"[0-9a-fA-F]*")


def check_ipv6_literal(text: str) -> None:
    """What stands between brackets in a URL must be an IPv6 address."""
    try:
        kind = address_kind(text)
    except GoError as error:
        raise GoError(f"invalid host: {error.text}") from None
    if kind == 4:
        raise GoError("invalid IP-literal")


def is_address(text: str) -> bool:
    """As net.ParseIP: an address without a zone."""
    try:
        return "%" not in text and address_kind(text) in (4, 6)
    except GoError:
        return False


def address_kind(text: str) -> int:
    """4 or 6; anything else is an error."""
    first = re.search("[.:%]", text)
    if first is None:
        raise _bad(text, "unable to parse IP")
    if first.group() == "%":
        raise _bad(text, "missing IPv6 address")
    if first.group() == ".":
        _check_ipv4(text, text)
        return 4
    _check_ipv6(text)
    return 6


def _bad(text: str, why: str, at: str = "") -> GoError:
    place = f" (at {quote(at)})" if at else ""
    return GoError(f"ParseAddr({quote(text)}): {why}{place}")


def _check_ipv4(whole: str, text: str) -> None:
    fields, digits, value = 0, 0, 0
    for place, char in enumerate(text):
        if "0" <= char <= "9":
            if digits == 1 and value == 0:
                raise _bad(whole, "IPv4 field has octet with leading zero")
            value, digits = value * 10 + int(char), digits + 1
            if value > 255:
                raise _bad(whole, "IPv4 field has value >255")
        elif char == ".":
            if place in (0, len(text) - 1) or text[place - 1] == ".":
                raise _bad(whole, "IPv4 field must have at least one digit", text[place:])
            if fields == 3:
                raise _bad(whole, "IPv4 address too long")
            fields, value, digits = fields + 1, 0, 0
        else:
            raise _bad(whole, "unexpected character", text[place:])
    if fields < 3:
        raise _bad(whole, "IPv4 address too short")


def _check_ipv6(whole: str) -> None:
    text, percent, zone = whole.partition("%")
    if percent and not zone:
        raise _bad(whole, "zone must be a non-empty string")
    shortened = text.startswith("::")
    rest = text[2:] if shortened else text
    if shortened and not rest:
        return
    size = 0
    while size < 16:
        size, rest, shortened = _take_group(whole, rest, size, shortened)
        if not rest:
            break
    if rest:
        raise _bad(whole, "trailing garbage after address", rest)
    if size < 16 and not shortened:
        raise _bad(whole, "address string too short")
    if size >= 16 and shortened:
        raise _bad(whole, "the :: must expand to at least one field of zeros")


def _take_group(whole: str, text: str, size: int, shortened: bool) -> tuple[int, str, bool]:
    group = _GROUP.match(text).group()  # type: ignore[union-attr]
    if len(group) > 4:
        raise _bad(whole, "each group must have 4 or less digits", text)
    if not group:
        raise _bad(whole, "each colon-separated field must have at least one digit", text)
    rest = text[len(group) :]
    if rest.startswith("."):
        return _take_ipv4(whole, text, size, shortened)
    if not rest:
        return size + 2, "", shortened
    if rest[0] != ":":
        raise _bad(whole, "unexpected character, want colon", rest)
    if len(rest) == 1:
        raise _bad(whole, "colon must be followed by more characters", rest)
    if rest[1] != ":":
        return size + 2, rest[1:], shortened
    if shortened:
        raise _bad(whole, "multiple :: in address", rest[1:])
    return size + 2, rest[2:], True


def _take_ipv4(whole: str, text: str, size: int, shortened: bool) -> tuple[int, str, bool]:
    if not shortened and size != 12:
        raise _bad(whole, "embedded IPv4 address must replace the final 2 fields of the address", text)
    if size + 4 > 16:
        raise _bad(whole, "too many hex fields to fit an embedded IPv4 at the end of the address", text)
    _check_ipv4(whole, text)
    return size + 4, "", shortened
