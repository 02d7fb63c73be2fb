"""`--connect-to`: connects to another address instead of one inside the cluster, for operators that run outside.

A file of forwards (`@FILE`) is checked for each connection and reloaded when it has changed, so that services created
later can be reached without a restart. A missing file has no forwards.
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
    """An address inside the cluster and the address to connect to instead, as in curl's --connect-to."""

    host: str
    port: int
    to_host: str
    to_port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}:{self.to_host}:{self.to_port}"


class ForwardFile(NamedTuple):
    """A file with one forward per line; empty lines and lines that begin with # are ignored."""

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
    """Replaces the file atomically: a reader sees the old or the new content."""
    incomplete = path.with_name(f".{path.name}.incomplete")
    incomplete.write_text("".join(f"{forward}\n" for forward in sorted(forwards)))
    incomplete.replace(path)


class Redirect:
    """Maps an address to the one to connect to: `redirect(host, port)`. Other addresses are not changed."""

    def __init__(self, forwards: Forwards) -> None:
        self._fixed = _table(each for each in forwards if isinstance(each, Forward))
        self._files = [_ForwardTable(each.path) for each in forwards if isinstance(each, ForwardFile)]

    def __call__(self, host: str, port: int) -> Address:
        address = (host, port)
        for table in (self._fixed, *(file.table() for file in self._files)):
            if address in table:
                return table[address]
        return address


def _table(forwards: Iterable[Forward]) -> dict[Address, Address]:
    return {(each.host, each.port): (each.to_host.strip("[]"), each.to_port) for each in forwards}


class _ForwardTable:
    """The forwards of a file, reloaded when it changes."""

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
            # Keep the last forwards: the file may be readable again at the next connection.
            log.warning("cannot reload forwards: %s", error)
        return self._table

    def _read(self) -> list[Forward]:
        forwards = []
        for number, line in enumerate(self._path.read_text("utf-8", "replace").splitlines(), 1):
            text = line.strip()
            if text and not text.startswith("#"):
                try:
                    forwards.append(parse_forward(text))
                except ValueError as error:
                    log.warning("%s, line %d: %s; the line is ignored", self._path, number, error)
        return forwards
