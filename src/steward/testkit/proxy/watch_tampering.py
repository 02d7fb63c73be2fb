"""Tampers with the events of one watch stream. Pure: lines in, what to do out.

`Tamper.feed` takes a whole line and returns what the client shall get in its place: lines, `Silence` while a rule
holds the stream, or the end of it. Which rules match the stream is asked anew for each event, so that a rule added
while a watch is open counts from the next event on.
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
    """As much of a watch event as a rule may ask for."""

    type: str = ""
    object: _Object = msgspec.field(default_factory=_Object)


class Due(NamedTuple):
    """A fault that hits this event, and how to know when its rule is gone."""

    fault: WatchFault
    rule_id: int


class Verdict(NamedTuple):
    """What happens to one event."""

    lines: tuple[bytes, ...]
    hold_by: int | None = None
    cut: bool = False


@dataclass
class Tamper:
    """The state of one stream: the events that were put back behind later ones."""

    faults_for: Callable[[Event], Iterable[Due]]
    _delayed: list[tuple[int, bytes]] = field(default_factory=list)

    @property
    def keeps_any(self) -> bool:
        """Whether events wait to be sent behind later ones."""
        return bool(self._delayed)

    def feed(self, line: bytes) -> Verdict:
        copies, inserted, hold_by = 1, [], None
        for fault, rule_id in self.faults_for(decode_event(line)):
            match fault:
                case CutWatch():
                    return Verdict((), cut=True)
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
        return Verdict((*inserted, *(line for _ in range(copies)), *self._come_due()), hold_by)

    def rest(self) -> tuple[bytes, ...]:
        """What was put back and never came due: sent when the stream ends."""
        lines, self._delayed = tuple(line for _, line in self._delayed), []
        return lines

    def _come_due(self) -> list[bytes]:
        self._delayed = [(behind - 1, line) for behind, line in self._delayed]
        due = [line for behind, line in self._delayed if behind <= 0]
        self._delayed = [(behind, line) for behind, line in self._delayed if behind > 0]
        return due


def decode_event(line: bytes) -> Event:
    """Read an event; what cannot be read (a line inserted by another proxy) matches no type and no name."""
    try:
        return msgspec.json.decode(line, type=Event)
    except msgspec.DecodeError:
        return Event()


def fault_fits(fault: WatchFault, event: Event) -> bool:
    """Whether the event is of the type and name that the fault asks for."""
    return fault.type in ("", event.type) and fault.name in ("", event.object.metadata.name)
