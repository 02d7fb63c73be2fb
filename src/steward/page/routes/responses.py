"""Responses, with the headers that every one of them has. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from aiohttp import web

CONTENT_SECURITY_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
TRANSPORT_SECURITY: Final = "max-age=31536000"


class Refused(Exception):
    """A request that is answered with a status and one sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def with_headers(response: web.StreamResponse, *, is_secure: bool) -> web.StreamResponse:
    for name, value in SECURITY_HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")
    if is_secure:
        response.headers["Strict-Transport-Security"] = TRANSPORT_SECURITY
    return response


def json_response(value: Any, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json", charset="utf-8"
    )


def refusal(error: Refused) -> web.Response:
    return json_response({"message": str(error)}, error.status)
