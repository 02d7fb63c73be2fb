"""Builds the TLS contexts for a TLS mode, and tries to read with them in order."""

import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

from steward.kube.auth.tls import ClientCertificate, build_context
from steward.kube.config.settings import TlsSettings
from steward.kube.errors import ConfigError
from steward.tenants.api.scalars import UNSET, TlsMode, Unset
from steward.tenants.api.source import TLS_DEFAULT, Tls
from steward.tenants.errors import BadSource, TlsFailed
from steward.tenants.sources.reader import SourceCredentials
from steward.tenants.sources.rows import Rows

TlsAttempt = ssl.SSLContext | None
"""None is a connection without TLS."""


def tls_attempts(mode: TlsMode, credentials: SourceCredentials) -> tuple[TlsAttempt, ...]:
    if mode == "disable":
        return (None,)
    context = _context(mode, credentials)
    return (context, None) if mode == "prefer" else (context,)


async def read_with_tls(
    tls: Tls | Unset, credentials: SourceCredentials, read: Callable[[TlsAttempt], Awaitable[Rows]]
) -> Rows:
    """Reads with the first context that the server accepts."""
    contexts = tls_attempts(TLS_DEFAULT if tls is UNSET else tls.mode, credentials)
    for attempt in contexts[:-1]:
        with suppress(TlsFailed):
            return await read(attempt)
    return await read(contexts[-1])


def _context(mode: TlsMode, credentials: SourceCredentials) -> ssl.SSLContext:
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
