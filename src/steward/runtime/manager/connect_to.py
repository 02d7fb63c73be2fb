"""Addresses inside the cluster, and where they can be reached from outside it: what `--connect-to` says.

A file of forwards (`@FILE`) is looked at each time an address is asked for and read again when it has changed, so that
what is created later can be reached without a restart. A file that is not there yet forwards nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

log = logging.getLogger(__name__)

_FORWARD = re.compile(r"(\[[^]]+\]|[^:\s]+):(\d+):(\[[^]]+\]|[^:\s]+):(\d+)")


class Forward(NamedTuple):
    """An address inside the cluster and where it can be reached from here, as curl's --connect-to has it."""

    host: str
    port: int
    to_host: str
    to_port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}:{self.to_host}:{self.to_port}"


class ForwardFile(NamedTuple):
    """A file with one forward a line; empty lines and lines that begin with # say nothing."""

    path: Path


Forwards = tuple[Forward | ForwardFile, ...]
Address = tuple[str, int]


def parse_forward(text: str) -> Forward:
    """`HOST:PORT:ADDRESS:PORT`; raises ValueError for anything else."""
    found = _FORWARD.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not HOST:PORT:ADDRESS:PORT")
    host, port, to_host, to_port = found.groups()
    return Forward(host, int(port), to_host, int(to_port))


def parse_forwards(parts: Iterable[str]) -> Forwards:
    return tuple(ForwardFile(Path(p[1:])) if p.startswith("@") and p[1:] else parse_forward(p) for p in parts)


def write_forwards(path: Path, forwards: Iterable[Forward]) -> None:
    """Puts the whole file in place at once: a reader sees the old one or the new one."""
    incomplete = path.with_name(f".{path.name}.incomplete")
    incomplete.write_text("".join(f"{forward}\n" for forward in sorted(forwards)))
    incomplete.replace(path)


class Redirect:
    """Where to connect for an address: `redirect(host, port)`. What nobody forwards stays as it is."""

    def __init__(self, forwards: Forwards) -> None:
        self._fixed = _table(each for each in forwards if isinstance(each, Forward))
        self._files = [_Reread(each.path) for each in forwards if isinstance(each, ForwardFile)]

    def __call__(self, host: str, port: int) -> Address:
        asked = (host, port)
        for table in (self._fixed, *(file.table() for file in self._files)):
            if asked in table:
                return table[asked]
        return asked


def _table(forwards: Iterable[Forward]) -> dict[Address, Address]:
    return {(each.host, each.port): (each.to_host.strip("[]"), each.to_port) for each in forwards}


class _Reread:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, ...] = ()
        self._table: dict[Address, Address] = {}

    def table(self) -> dict[Address, Address]:
        try:
            status = self._path.stat()
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
            if stamp != self._stamp:
                self._table = _table(self._read())
                self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._table = (), {}
        except OSError as error:
            # What was known is better than nothing: the file may be readable again at the next look.
            log.warning("forwards cannot be read again: %s", error)
        return self._table

    def _read(self) -> list[Forward]:
        forwards = []
        for number, line in enumerate(self._path.read_text("utf-8", "replace").splitlines(), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                try:
                    forwards.append(parse_forward(text))
                except ValueError as error:
                    log.warning("%s, line %d: %s; the line is passed over", self._path, number, error)
        return forwards
