"""Reads a small file that is rotated while the process runs, such as a token or a certificate.

A change is noticed within `CHECK_SECONDS`. While the file is missing or cannot be read (the kubelet is updating a
projected volume), the last content stays in use.
"""

from pathlib import Path

from steward.kube.clock import Clock
from steward.kube.errors import ConfigError

CHECK_SECONDS = 1.0

Stamp = tuple[int, int, int]


class RotatedFile:
    def __init__(self, path: str, clock: Clock) -> None:
        self._path = Path(path)
        self._clock = clock
        self._stamp: Stamp | None = None
        self._content = b""
        self._checked = float("-inf")

    def read(self) -> bytes:
        now = self._clock.monotonic()
        if now - self._checked >= CHECK_SECONDS:
            self._checked = now
            self._refresh()
        return self._content

    def check_now(self) -> None:
        self._checked = float("-inf")

    def _refresh(self) -> None:
        try:
            found = self._path.stat()
            stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
            if stamp != self._stamp:
                self._content, self._stamp = self._path.read_bytes(), stamp
        except OSError as error:
            if self._stamp is None:
                self._checked = float("-inf")
                raise ConfigError(f"cannot read {self._path}: {error.strerror}") from error
