"""A small file that others rewrite: tokens and certificates that rotate while we run.

A change is seen within `CHECK_SECONDS`. A file that vanishes or cannot be read for a moment (a projected volume
being swapped) leaves the last content in force.
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
