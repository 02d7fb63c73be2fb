"""The certificate of a server, reloaded while it serves.

`load_cert_chain` on the context of a running server takes effect with the next handshake; open connections keep the old
certificate. A failed load leaves a context with a certificate and no key, so files are tried on a scratch context
first: the live one only gets a valid pair.
"""

import hashlib
import logging
import ssl
from pathlib import Path

from steward.certificates.errors import UnusableCertificateError
from steward.kube.clock import Clock

CERTIFICATE = "tls.crt"
KEY = "tls.key"
CHECK_SECONDS = 5.0
_ATTEMPTS = 3

log = logging.getLogger(__name__)


class ServingCertificate:
    """Follows `tls.crt` and `tls.key` of one directory, as a Secret volume or cert-manager writes them."""

    def __init__(self, directory: Path | str) -> None:
        self._certificate = Path(directory, CERTIFICATE)
        self._key = Path(directory, KEY)
        self._loaded = b""
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.set_alpn_protocols(["http/1.1"])

    @property
    def is_loaded(self) -> bool:
        return bool(self._loaded)

    def reload(self) -> bool:
        """Load the files if they changed; returns whether they did. Invalid files raise, and the old pair stays."""
        for _ in range(_ATTEMPTS):
            digest = self._digest()
            if digest == self._loaded:
                return False
            self._load(ssl.create_default_context(ssl.Purpose.CLIENT_AUTH))
            self._load(self.context)
            # The kubelet may replace the files between two reads: the loaded pair counts only if they are the same.
            if self._digest() == digest:
                self._loaded = digest
                return True
        raise UnusableCertificateError(
            f"{self._certificate} and {self._key} change faster than they can be read"
        )

    async def follow(self, clock: Clock) -> None:
        """Reload whenever the files change, until cancelled. An error is logged once, and the load is retried."""
        complaint = ""
        while True:
            await clock.sleep(CHECK_SECONDS)
            try:
                if self.reload():
                    log.info("serving a new certificate", extra={"file": str(self._certificate)})
                complaint = ""
            except UnusableCertificateError as error:
                if str(error) != complaint:
                    log.warning("still serving the old certificate: %s", error)
                complaint = str(error)

    def _digest(self) -> bytes:
        try:
            return hashlib.sha256(self._certificate.read_bytes() + b"\0" + self._key.read_bytes()).digest()
        except OSError as error:
            raise UnusableCertificateError(
                f"{error.filename}: {error.strerror}; mount the server certificate's Secret there"
            ) from None

    def _load(self, context: ssl.SSLContext) -> None:
        try:
            context.load_cert_chain(self._certificate, self._key)
        except (OSError, ssl.SSLError) as error:
            raise UnusableCertificateError(
                f"{self._certificate} and {self._key} are no certificate and its key: {error}"
            ) from None
