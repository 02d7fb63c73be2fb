"""The rules that a fault proxy goes by now, with their counters. No I/O.

A request is hit by the first rule that matches and is due; a watch event by all of them, one after the other. Every
rule that matches counts the call, whether or not another rule takes it.
"""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from steward.testkit.proxy.faults import RequestFault, Rule, WatchFault
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.watch_tampering import Due, Event, fault_fits


@dataclass
class Entry:
    """A rule in force: how often it matched and hit; `held` is set once it really holds something back."""

    id: int
    rule: Rule
    matched: int = 0
    hits: int = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)
    removed: asyncio.Event = field(default_factory=asyncio.Event)
    _hit: asyncio.Event = field(default_factory=asyncio.Event)

    def note_match(self) -> bool:
        """Count a match; whether the rule hits it."""
        self.matched += 1
        if not self.rule.hits(self.matched):
            return False
        self.hits += 1
        self._hit.set()
        return True

    async def hold(self) -> None:
        """Wait until the rule is removed."""
        self.held.set()
        await self.removed.wait()

    async def until_hit(self, times: int = 1) -> None:
        """Return once the rule has hit `times` calls."""
        while self.hits < times:
            self._hit.clear()
            await self._hit.wait()


class Rules:
    """The list of rules, in the order they were added."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._ids = itertools.count(1)

    def add(self, rule: Rule) -> Entry:
        entry = Entry(next(self._ids), rule)
        self._entries[entry.id] = entry
        return entry

    def remove(self, entry_id: int) -> None:
        """Take a rule away; whatever it holds back goes on."""
        entry = self._entries.pop(entry_id, None)
        if entry is not None:
            entry.removed.set()

    def clear(self) -> None:
        for entry_id in list(self._entries):
            self.remove(entry_id)

    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def get(self, entry_id: int) -> Entry | None:
        return self._entries.get(entry_id)

    def fault_for(self, call: Call) -> tuple[RequestFault, Entry] | None:
        """The fault that hits this request, if any."""
        hit: tuple[RequestFault, Entry] | None = None
        for entry in self._entries.values():
            fault = entry.rule.fault
            if not isinstance(fault, RequestFault) or not entry.rule.match.fits(call):
                continue
            if entry.note_match() and hit is None:
                hit = fault, entry
        return hit

    def faults_for(self, call: Call, event: Event) -> Iterator[Due]:
        """The faults that hit this event of the watch `call`."""
        for entry in list(self._entries.values()):
            fault = entry.rule.fault
            if not isinstance(fault, WatchFault) or not entry.rule.match.fits(call):
                continue
            if fault_fits(fault, event) and entry.note_match():
                yield Due(fault, entry.id)

    def tampers_with(self, call: Call) -> bool:
        """Whether any rule may touch events of this watch: if not, they need no decoding."""
        return any(
            isinstance(entry.rule.fault, WatchFault) and entry.rule.match.fits(call)
            for entry in self._entries.values()
        )
