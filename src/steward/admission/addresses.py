"""Addresses of the webhook server: where it listens, and the URL at which the API server reaches it. Pure."""

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from steward.admission.errors import ListenError


class ListenAddress(NamedTuple):
    host: str | None
    port: int

    @classmethod
    def parse(cls, address: str) -> "ListenAddress":
        """`:9443`, `127.0.0.1:9443`, `[::1]:9443`."""
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535:
            raise ListenError(f"{address} is no address to listen on: write HOST:PORT, :PORT or 0 for none")
        return cls(host.strip("[]") or None, int(port))


def url_with_port(url: str, port: int) -> str:
    """The URL, with the actual port of the server in place of port 0."""
    parts = urlsplit(url)
    if parts.port == 0:
        parts = parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{port}")
    return parts.geturl().rstrip("/")


def host_names(url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The DNS names and IP addresses that a certificate for this URL must have."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ListenError(f"{url} is no URL for webhooks: write https://HOST:PORT")
    try:
        return (), (str(ipaddress.ip_address(parts.hostname)),)
    except ValueError:
        return (parts.hostname,), ()
