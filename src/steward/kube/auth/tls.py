"""Builds the TLS context of connections, and builds it again when a certificate or the authority has changed.

A new context is a new object: existing connections keep the old one and are not disturbed, new connections use the new
certificates.
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


TlsMaterial = tuple[bytes, ClientCertificate | None]


class TlsContexts:
    def __init__(self, settings: TlsSettings, clock: Clock) -> None:
        self._settings = settings
        self._authority = _PemSource(settings.authority, clock)
        self._certificate = _PemSource(settings.certificate, clock)
        self._key = _PemSource(settings.key, clock)
        self._built_from: TlsMaterial | None = None
        self._context: ssl.SSLContext | None = None

    def current(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """The current context; `certificate`, from a credential plugin, replaces the configured one."""
        material = (self._authority.read(), certificate or self._own_certificate())
        if self._context is None or material != self._built_from:
            self._context = self._build(material)
            self._built_from = material
        return self._context

    def _build(self, material: TlsMaterial) -> ssl.SSLContext:
        try:
            return build_context(material, self._settings)
        except ConfigError as error:
            if self._context is None:
                raise
            # Certificate and key are two files: between the two writes they do not match.
            log.warning("new certificates are not used yet: %s", error)
            return self._context

    def _own_certificate(self) -> ClientCertificate | None:
        certificate = self._certificate.read()
        return ClientCertificate(certificate, self._key.read()) if certificate else None


class _PemSource:
    def __init__(self, pem: Pem, clock: Clock) -> None:
        self._data = pem.data
        self._file = RotatedFile(pem.file, clock) if pem.file and not pem.data else None

    def read(self) -> bytes:
        return self._file.read() if self._file else self._data


def build_context(material: TlsMaterial, settings: TlsSettings) -> ssl.SSLContext:
    authority, certificate = material
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # As in Go, any certificate of the bundle is a trust anchor, not only self-signed roots.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _load_authority(context, authority, settings.authority)
    else:
        context.load_default_certs()
    if certificate:
        _load_client_certificate(context, certificate, settings.certificate)
    return context


def _load_authority(context: ssl.SSLContext, authority: bytes, source: Pem) -> None:
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "replace"))
    except (ssl.SSLError, ValueError) as error:
        where = source.file or "certificate-authority-data"
        raise ConfigError(f"{where} holds no PEM certificates ({error})") from error


def _load_client_certificate(context: ssl.SSLContext, pair: ClientCertificate, source: Pem) -> None:
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
    """A temporary file with the content, because OpenSSL reads keys only from paths.

    In memory where the system supports it: a container may have a read-only file system, and a key should not be
    written to disk.
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
