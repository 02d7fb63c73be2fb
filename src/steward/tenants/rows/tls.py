"""From a TLS mode to the contexts to connect with, in the order in which to try them."""

import ssl

from steward.kube.connection import TlsSettings
from steward.kube.errors import ConfigError
from steward.kube.tls import ClientCertificate, build_context
from steward.tenants.api.scalars import TlsMode
from steward.tenants.errors import BadSource
from steward.tenants.rows.source import Credentials

Attempt = ssl.SSLContext | None
"""None is a connection in the clear."""


def attempts(mode: TlsMode, credentials: Credentials) -> tuple[Attempt, ...]:
    if mode == "disable":
        return (None,)
    context = _context(mode, credentials)
    return (context, None) if mode == "prefer" else (context,)


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
