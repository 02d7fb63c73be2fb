"""From a TLS mode to the contexts to connect with, and a read that tries them in their order."""

import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

from steward.kube.auth.tls import ClientCertificate, build_context
from steward.kube.config.settings import TlsSettings
from steward.kube.errors import ConfigError
from steward.tenants.api.scalars import UNSET, TlsMode, Unset
from steward.tenants.api.source import TLS_DEFAULT, Tls
from steward.tenants.errors import BadSource, TlsFailed
from steward.tenants.sources.rows import Rows
from steward.tenants.sources.source import Credentials

Attempt = ssl.SSLContext | None
"""None is a connection in the clear."""


def attempts(mode: TlsMode, credentials: Credentials) -> tuple[Attempt, ...]:
    if mode == "disable":
        return (None,)
    context = _context(mode, credentials)
    return (context, None) if mode == "prefer" else (context,)


async def read_over(
    tls: Tls | Unset, credentials: Credentials, read: Callable[[Attempt], Awaitable[Rows]]
) -> Rows:
    """The rows by the first way that the server speaks."""
    found = attempts(TLS_DEFAULT if tls is UNSET else tls.mode, credentials)
    for attempt in found[:-1]:
        with suppress(TlsFailed):
            return await read(attempt)
    return await read(found[-1])


def _context(mode: TlsMode, credentials: Credentials) -> ssl.SSLContext:
    certificate = None
    if credentials.certificate:
        certificate = ClientCertificate(credentials.certificate, credentials.key)
    verifies = mode in ("verify-ca", "verify-full")
    try:
        context = build_context((credentials.authority, certificate), TlsSettings(insecure=not verifies))
    except ConfigError as error:
        raise BadSource(
            f"tls: {error}; correct the Secret that caRef or clientCertificateRef names"
        ) from None
    if mode == "verify-ca":
        context.check_hostname = False
    return context
