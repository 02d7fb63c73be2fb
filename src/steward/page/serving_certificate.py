"""The TLS certificate of the page: from files that may be replaced while it runs, or self-signed."""

from __future__ import annotations

import asyncio
import logging
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from steward.certificates.self_signed import write_self_signed

RELOAD_SECONDS: Final = 30.0
_NAMES: Final = ("steward-page", "localhost")

log = logging.getLogger(__name__)


@dataclass
class ServingCertificate:
    """`load_cert_chain` on the context in use changes the certificate of new connections."""

    certificate: Path
    key: Path
    context: ssl.SSLContext
    directory: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def load(cls, files: tuple[str, str] | None) -> Self:
        """Without files a self-signed certificate: the connection is encrypted, and the reader confirms the server."""
        directory = None
        if files is None:
            directory = tempfile.TemporaryDirectory()
            files = (f"{directory.name}/tls.crt", f"{directory.name}/tls.key")
            write_self_signed(Path(files[0]), Path(files[1]), _NAMES)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(*files)
        return cls(Path(files[0]), Path(files[1]), context, directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.directory is not None:
            self.directory.cleanup()

    async def reload_for_ever(self) -> None:
        known = self._content()
        while True:
            await asyncio.sleep(RELOAD_SECONDS)
            known = self.reload(known)

    def reload(self, known: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
        """Loads the files if they have changed. A pair that does not match is tried again later."""
        try:
            found = self._content()
            if found != known:
                self.context.load_cert_chain(self.certificate, self.key)
        except OSError as error:
            log.warning("the certificate of the page cannot be loaded: %s", error)
            return known
        return found

    def _content(self) -> tuple[bytes, bytes]:
        return self.certificate.read_bytes(), self.key.read_bytes()
