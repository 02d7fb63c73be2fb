"""The active rules of a fault proxy, with their counters. No I/O.

A request gets the fault of the first rule that matches and is due; a watch event gets those of all such rules. Every
matching rule counts the call, even if another rule's fault is applied.
"""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from steward.testkit.proxy.faults import RequestFault, Rule, WatchFault
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.watch_tampering import Event, MatchedFault, fault_matches


@dataclass
class ActiveRule:
    """A rule with its counters of matches and hits; `held` is set once it holds a call or an event."""

    id: int
    rule: Rule
    matched: int = 0
    hits: int = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)
    removed: asyncio.Event = field(default_factory=asyncio.Event)
    _hit: asyncio.Event = field(default_factory=asyncio.Event)

    def note_match(self) -> bool:
        """Count a match, and return whether the rule applies to it."""
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
        """Wait until the rule has hit `times` calls."""
        while self.hits < times:
            self._hit.clear()
            await self._hit.wait()


class RuleSet:
    """The active rules, in the order in which they were added."""

    def __init__(self) -> None:
        self._entries: dict[int, ActiveRule] = {}
        self._ids = itertools.count(1)

    def add(self, rule: Rule) -> ActiveRule:
        entry = ActiveRule(next(self._ids), rule)
        self._entries[entry.id] = entry
        return entry

    def remove(self, entry_id: int) -> None:
        """Remove a rule and release the calls that it holds."""
        entry = self._entries.pop(entry_id, None)
        if entry is not None:
            entry.removed.set()

    def clear(self) -> None:
        for entry_id in list(self._entries):
            self.remove(entry_id)

    def entries(self) -> list[ActiveRule]:
        return list(self._entries.values())

    def get(self, entry_id: int) -> ActiveRule | None:
        return self._entries.get(entry_id)

    def fault_for(self, call: Call) -> tuple[RequestFault, ActiveRule] | None:
        """The fault to apply to this request, if any."""
        hit: tuple[RequestFault, ActiveRule] | None = None
        for entry in self._entries.values():
            fault = entry.rule.fault
            if not isinstance(fault, RequestFault) or not entry.rule.match.matches(call):
                continue
            if entry.note_match() and hit is None:
                hit = fault, entry
        return hit

    def faults_for(self, call: Call, event: Event) -> Iterator[MatchedFault]:
        """The faults to apply to this event of the watch `call`."""
        for entry in list(self._entries.values()):
            fault = entry.rule.fault
            if not isinstance(fault, WatchFault) or not entry.rule.match.matches(call):
                continue
            if fault_matches(fault, event) and entry.note_match():
                yield MatchedFault(fault, entry.id)

    def tampers_with(self, call: Call) -> bool:
        """Whether any rule may affect events of this watch: otherwise they need no decoding."""
        return any(
            isinstance(entry.rule.fault, WatchFault) and entry.rule.match.matches(call)
            for entry in self._entries.values()
        )
