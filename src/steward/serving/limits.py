"""The limits of one server, with defaults for the webhook server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerLimits:
    """Bounds on what clients can hold: connections, seconds and bytes.

    `opening_seconds` covers the TLS handshake and the header of the first request. `request_seconds` is from the end of
    a header to the end of the response. `idle_seconds` is longer than the 90 s for which Go's HTTP client keeps an idle
    connection, so that the client closes it: a server that closes first may do so while a request is under way.
    """

    connections: int = 256
    handshake_seconds: float = 10.0
    opening_seconds: float = 15.0
    request_seconds: float = 40.0
    idle_seconds: float = 120.0
    header_bytes: int = 64 << 10
    header_fields: int = 64
    header_field_bytes: int = 8190
    read_buffer_bytes: int = 16 << 10
