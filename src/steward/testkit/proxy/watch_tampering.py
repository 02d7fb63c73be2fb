"""Applies watch faults to the events of one stream. Pure.

`WatchTamperer.feed` takes a line and returns what the client gets instead: lines, a hold, or the end of the stream. The
matching rules are looked up for each event, so that a rule added while a watch is open applies from the next event on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from steward.testkit.proxy.faults import (
    CutWatch,
    DelayEvents,
    HoldWatch,
    InsertLine,
    LoseEvents,
    RepeatEvents,
    WatchFault,
)


class _Meta(msgspec.Struct):
    name: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class Event(msgspec.Struct):
    """The fields of a watch event that rules can match."""

    type: str = ""
    object: _Object = msgspec.field(default_factory=_Object)


class MatchedFault(NamedTuple):
    """A fault that applies to an event, and the id of its rule."""

    fault: WatchFault
    rule_id: int


class TamperResult(NamedTuple):
    """The lines to send for one event, and whether to hold or cut the stream."""

    lines: tuple[bytes, ...]
    hold_by: int | None = None
    cut: bool = False


@dataclass
class WatchTamperer:
    """The state of one stream: the events that are delayed behind later ones."""

    faults_for: Callable[[Event], Iterable[MatchedFault]]
    _delayed: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def has_delayed(self) -> bool:
        """Whether events wait to be sent after later ones."""
        return bool(self._delayed)

    def feed(self, line: bytes) -> TamperResult:
        copies, inserted, hold_by = 1, [], None
        for fault, rule_id in self.faults_for(decode_event(line)):
            match fault:
                case CutWatch():
                    return TamperResult((), cut=True)
                case HoldWatch():
                    hold_by = rule_id
                case InsertLine(line=extra):
                    inserted.append(extra.encode() + b"\n")
                case LoseEvents():
                    copies = 0
                case RepeatEvents(times=times):
                    copies += times
                case DelayEvents(behind=behind):
                    self._delayed.append((behind + 1, line))
                    copies = 0
        return TamperResult((*inserted, *(line for _ in range(copies)), *self._take_due()), hold_by)

    def flush(self) -> tuple[bytes, ...]:
        """The delayed events that were not sent yet; sent when the stream ends."""
        lines, self._delayed = tuple(line for _, line in self._delayed), []
        return lines

    def _take_due(self) -> list[bytes]:
        self._delayed = [(behind - 1, line) for behind, line in self._delayed]
        due = [line for behind, line in self._delayed if behind <= 0]
        self._delayed = [(behind, line) for behind, line in self._delayed if behind > 0]
        return due


def decode_event(line: bytes) -> Event:
    """Decode an event; a line that is no JSON matches no type and no name."""
    try:
        return msgspec.json.decode(line, type=Event)
    except msgspec.DecodeError:
        return Event()


def fault_matches(fault: WatchFault, event: Event) -> bool:
    """Whether the event has the type and name that the fault selects."""
    return fault.type in ("", event.type) and fault.name in ("", event.object.metadata.name)
