"""What an operator costs in one phase of its life: calls, as the audit log has them, processor and memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.measuring.operator import RunningOperator
from bench.measuring.plane import Ground
from bench.measuring.process import Usage
from steward.testkit.audit import AuditLog, Calls, Mark

_QUIET_SECONDS = 3.0
_LEASES = "leases"
_EVENTS = "events"


@dataclass
class Phase:
    """Filled in when the phase has ended."""

    calls: Calls = field(default_factory=lambda: Calls(()))
    before: Usage | None = None
    after: Usage | None = None
    seconds: float = 0.0

    @property
    def writes(self) -> Calls:
        """All but those of the lease."""
        return Calls(tuple(item for item in self.calls.writes() if item.call.resource != _LEASES))

    @property
    def objects(self) -> int:
        """Writes that are no events: those tell people, and are nobody's state."""
        return sum(item.call.resource != _EVENTS for item in self.writes)

    @property
    def reads(self) -> int:
        """Gets and lists: a watch is one call however long it lasts."""
        return sum(item.call.verb in ("get", "list") and item.call.resource != _LEASES for item in self.calls)

    @property
    def cpu_seconds(self) -> float:
        assert self.before is not None
        assert self.after is not None
        return self.after.cpu_seconds - self.before.cpu_seconds

    @property
    def memory_mb(self) -> float:
        assert self.after is not None
        return self.after.rss_mb

    @property
    def peak_mb(self) -> float:
        assert self.after is not None
        return self.after.peak_mb

    def sorted_writes(self) -> str:
        """How many of which kind, for a person who wonders."""
        kinds = Counter(
            f"{item.call.verb} {item.call.resource}{'/' if item.call.subresource else ''}{item.call.subresource}"
            for item in self.writes
        )
        return ", ".join(f"{count} {what}" for what, count in kinds.most_common())


class Watched:
    """One operator, by its user agent, on one control plane."""

    def __init__(self, on: Ground, agent: str) -> None:
        self._audit = AuditLog(on.plane.audit_log, on.plane.kubeconfig)
        self._agent = agent

    async def mark(self) -> Mark:
        return await self._audit.mark()

    async def since(self, mark: Mark) -> Calls:
        """The operator's calls since then."""
        calls = await self._audit.calls_since(mark)
        return Calls(tuple(item for item in calls if self._agent in item.call.user_agent))

    @asynccontextmanager
    async def phase(self, running: RunningOperator) -> AsyncIterator[Phase]:
        """Everything inside is the phase."""
        phase, mark = Phase(before=running.usage()), await self.mark()
        began = asyncio.get_running_loop().time()
        yield phase
        phase.seconds = asyncio.get_running_loop().time() - began
        phase.after = running.usage()
        phase.calls = await self.since(mark)

    async def until_quiet(self, seconds: float = _QUIET_SECONDS) -> None:
        """Until nothing but the lease was written for a while: what a start or a storm set off is over."""
        while True:
            mark = await self.mark()
            await asyncio.sleep(seconds)
            if not Phase(await self.since(mark)).writes:
                return
