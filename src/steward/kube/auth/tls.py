"""One TLS context at a time, built again only when what it was built from has changed.

A new context is a new object: connections made under the old one end in their own time, new ones use the new
certificates, and nothing that is in flight is disturbed.
"""

import logging
import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from steward.kube.auth.rotated_file import RotatedFile
from steward.kube.clock import Clock
from steward.kube.config.settings import Pem, TlsSettings
from steward.kube.errors import ConfigError

log = logging.getLogger(__name__)


class ClientCertificate(Struct, frozen=True):
    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "ClientCertificate(...)"


Ingredients = tuple[bytes, ClientCertificate | None]


class TlsContexts:
    def __init__(self, settings: TlsSettings, clock: Clock) -> None:
        self._settings = settings
        self._authority = _Source(settings.authority, clock)
        self._certificate = _Source(settings.certificate, clock)
        self._key = _Source(settings.key, clock)
        self._tried: Ingredients | None = None
        self._context: ssl.SSLContext | None = None

    def current(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """The context to use now; `certificate`, from a credential plugin, stands in for the configured one."""
        ingredients = (self._authority.read(), certificate or self._own_certificate())
        if self._context is None or ingredients != self._tried:
            self._context = self._built(ingredients)
            self._tried = ingredients
        return self._context

    def _built(self, ingredients: Ingredients) -> ssl.SSLContext:
        try:
            return build_context(ingredients, self._settings)
        except ConfigError as error:
            if self._context is None:
                raise
            # Certificate and key are two files: between the two writes they do not belong together.
            log.warning("new certificates are not used yet: %s", error)
            return self._context

    def _own_certificate(self) -> ClientCertificate | None:
        certificate = self._certificate.read()
        return ClientCertificate(certificate, self._key.read()) if certificate else None


class _Source:
    def __init__(self, pem: Pem, clock: Clock) -> None:
        self._data = pem.data
        self._file = RotatedFile(pem.file, clock) if pem.file and not pem.data else None

    def read(self) -> bytes:
        return self._file.read() if self._file else self._data


def build_context(ingredients: Ingredients, settings: TlsSettings) -> ssl.SSLContext:
    authority, certificate = ingredients
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # As Go does: any certificate of the bundle is an anchor, not self-signed roots alone.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _trust(context, authority, settings.authority)
    else:
        context.load_default_certs()
    if certificate:
        _present(context, certificate, settings.certificate)
    return context


def _trust(context: ssl.SSLContext, authority: bytes, source: Pem) -> None:
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError) as error:
        where = source.file or "certificate-authority-data"
        raise ConfigError(f"{where} holds no PEM certificates ({error})") from error


def _present(context: ssl.SSLContext, pair: ClientCertificate, source: Pem) -> None:
    try:
        with _as_file(pair.certificate + b"\n" + pair.key) as path:
            context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError) as error:
        where = source.file or "the client certificate"
        raise ConfigError(
            f"{where} and its key cannot be used ({error}); both must be PEM, belong together, and be unencrypted"
        ) from error


def _no_password() -> str:
    # Without this OpenSSL would ask on the terminal and hang.
    return ""


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A path that holds the content for a moment, for OpenSSL reads keys from paths only.

    In memory where the system can: a container with a read-only file system has no place for a temporary file,
    and a key should not touch a disk.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client-certificate")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp()
    try:
        os.write(descriptor, content)
        yield path
    finally:
        os.close(descriptor)
        if not path.startswith("/proc/"):
            Path(path).unlink()
