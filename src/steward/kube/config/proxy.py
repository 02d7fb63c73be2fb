"""Chooses the HTTP proxy for a server by the rules of kubectl, which are those of Go.

`proxy-url` of the kubeconfig takes precedence and has no exceptions. Otherwise HTTPS_PROXY (HTTP_PROXY for servers
without TLS) and NO_PROXY apply, and localhost is never reached through a proxy.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from steward.kube.errors import ConfigError

_PORTS = {"http": "80", "https": "443"}


def choose_proxy(server: str, configured: str, environ: Mapping[str, str]) -> str:
    """The proxy's URL, or "" for a direct connection."""
    if configured:
        return _validated(configured, "proxy-url")
    target = urlsplit(server)
    name = "HTTPS_PROXY" if target.scheme == "https" else "HTTP_PROXY"
    proxy = _variable(environ, name)
    if not proxy or bypasses_proxy(target, _variable(environ, "NO_PROXY")):
        return ""
    return _validated(proxy if "://" in proxy else f"http://{proxy}", name)


def bypasses_proxy(target: SplitResult, no_proxy: str) -> bool:
    host = (target.hostname or "").lower()
    port = str(target.port or "") or _PORTS.get(target.scheme, "")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    return any(_matches(entry, host, port) for entry in entries if entry)


def _matches(entry: str, host: str, port: str) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(entry, host)
    pattern, own_port = _split_port(entry)
    if not pattern or (own_port and own_port != port):
        return False
    if _address(pattern) is not None:
        return _address(pattern) == _address(host)
    # `example.com` matches itself and its subdomains; `.example.com` and `*.example.com` only the subdomains.
    suffix = pattern.removeprefix("*") if pattern.startswith("*.") else pattern
    if suffix.startswith("."):
        return host.endswith(suffix)
    return host == suffix or host.endswith("." + suffix)


def _in_network(entry: str, host: str) -> bool:
    address = _address(host)
    try:
        return address is not None and address in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def _split_port(entry: str) -> tuple[str, str]:
    if entry.startswith("[") and "]:" in entry:
        host, _, rest = entry[1:].partition("]")
        return host, rest.removeprefix(":")
    if entry.count(":") == 1:
        host, _, port = entry.partition(":")
        return host, port
    return entry, ""


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name) or environ.get(name.lower()) or ""


def _validated(proxy: str, source: str) -> str:
    parts = urlsplit(proxy)
    if parts.scheme in ("socks5", "socks5h"):
        raise ConfigError(f"{source} names a SOCKS proxy, which is not supported; use an http or https proxy")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        url = f"{parts.scheme}://{parts.hostname or ''}"
        raise ConfigError(f"{source} must be an http or https URL, not {url!r}")
    return proxy
