"""time.Location: UTC, `Local`, zones by name, and fixed offsets."""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from steward.gotemplate.errors import GoError

# Python's dates end at the years 1 and 9999; beyond them the zone's rules are those at the edge.
_FIRST, _LAST = -62_135_000_000, 253_402_000_000
_SOURCES = ("/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo")


class Zone(NamedTuple):
    """What a location calls its time, and its distance from UTC in seconds."""

    name: str
    offset: int


class Location:
    """A set of rules; `zones` are all that it has ever used."""

    def __init__(self, name: str, zones: tuple[Zone, ...], rules: Any = None) -> None:
        self.name = name
        self.zones = zones
        self._rules = rules

    def at(self, unix: int) -> Zone:
        """The zone in effect at a moment."""
        if self._rules is None:
            return self.zones[0]
        local = self._clock(unix)
        offset = local.utcoffset()
        return Zone(local.tzname() or "", offset.days * 86_400 + offset.seconds)

    def is_dst(self, unix: int) -> bool:
        return self._rules is not None and bool(self._clock(unix).dst())

    def _clock(self, unix: int) -> Any:
        from datetime import UTC as PYTHON_UTC
        from datetime import datetime, timedelta

        moment = datetime(1970, 1, 1, tzinfo=PYTHON_UTC) + timedelta(seconds=min(max(unix, _FIRST), _LAST))
        return moment.astimezone(self._rules)

    def by_name(self, name: str, unix: int) -> int | None:
        """The offset that an abbreviation means here, preferably one in effect at that moment."""
        named = [zone for zone in self.zones if zone.name == name]
        for zone in named:
            current = self.at(unix - zone.offset)
            if current.name == name:
                return current.offset
        return named[0].offset if named else None


UTC = Location("UTC", (Zone("UTC", 0),))


def fixed(name: str, offset: int) -> Location:
    """A zone that never changes. Go keeps one for each whole hour without a name, which `eq` on times can see."""
    if not name and offset % 3600 == 0 and -12 <= offset // 3600 <= 14:
        return _whole_hours(offset)
    return Location(name, (Zone(name, offset),))


@lru_cache(maxsize=27)
def _whole_hours(offset: int) -> Location:
    return Location("", (Zone("", offset),))


def load(name: str) -> Location:
    """A zone by its name in the time zone database."""
    if name in ("", "UTC"):
        return UTC
    if name == "Local":
        return local()
    if ".." in name or name[0] in "/\\":
        raise GoError("time: invalid location name")
    return _named(name)


@lru_cache(maxsize=64)
def _named(name: str) -> Location:
    for source in _SOURCES:
        data = _read(Path(source) / name)
        if data is not None:
            return _from_data(name, data)
    raise GoError(f"unknown time zone {name}")


def local() -> Location:
    """Where Go has the process's own zone. Here it is UTC, always: replicas must not render different objects."""
    return _LOCAL


# Not the UTC above: `%#v` tells the two apart. Go calls it UTC, too, where the machine sets no zone.
_LOCAL = Location("UTC", (Zone("UTC", 0),))


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except (OSError, ValueError):
        return None
    return data if data.startswith(b"TZif") else None


def _from_data(name: str, data: bytes) -> Location:
    import io
    from zoneinfo import ZoneInfo

    return Location(name, _zones(data), ZoneInfo.from_file(io.BytesIO(data), key=name))


def _zones(data: bytes) -> tuple[Zone, ...]:
    """The zone records of a TZif file: those of its second, 64-bit part where there is one."""
    version, counts = data[4:5], _counts(data, 0)
    start, width = 44, 4
    if version >= b"2":
        second = 44 + _size(counts, 4)
        counts, start, width = _counts(data, second), second + 44, 8
    _, _, _, times, types, chars = counts
    records = start + times * (width + 1)
    names = data[records + types * 6 : records + types * 6 + chars]
    found = []
    for index in range(types):
        offset, _, place = struct.unpack_from(">iBB", data, records + index * 6)
        found.append(Zone(names[place : names.index(b"\0", place)].decode("ascii", "replace"), offset))
    return tuple(found)


def _counts(data: bytes, at: int) -> tuple[int, ...]:
    return struct.unpack_from(">6l", data, at + 20)


def _size(counts: tuple[int, ...], width: int) -> int:
    is_ut, is_std, leaps, times, types, chars = counts
    return times * (width + 1) + types * 6 + chars + leaps * (width + 4) + is_std + is_ut
