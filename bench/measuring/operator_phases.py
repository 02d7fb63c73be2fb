"""Calls (from the audit log), CPU and memory of an operator in one phase of a scenario."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from bench.measuring.operator import RunningOperator
from bench.measuring.plane import BenchContext
from bench.measuring.process import Usage
from steward.testkit.audit import AuditedCalls, AuditLog, LogPosition

_QUIET_SECONDS = 3.0
_LEASES = "leases"
_EVENTS = "events"


@dataclass
class Phase:
    """The measurements of a phase, filled in at its end."""

    calls: AuditedCalls = field(default_factory=lambda: AuditedCalls(()))
    before: Usage | None = None
    after: Usage | None = None
    seconds: float = 0.0

    @property
    def writes(self) -> AuditedCalls:
        """All writes except those of the lease."""
        return AuditedCalls(tuple(item for item in self.calls.writes() if item.call.resource != _LEASES))

    @property
    def objects(self) -> int:
        """Number of writes without events."""
        return sum(item.call.resource != _EVENTS for item in self.writes)

    @property
    def reads(self) -> int:
        """Number of gets and lists, without watches."""
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
        """Numbers of writes by verb and resource, as text."""
        kinds = Counter(
            f"{item.call.verb} {item.call.resource}{'/' if item.call.subresource else ''}{item.call.subresource}"
            for item in self.writes
        )
        return ", ".join(f"{count} {what}" for what, count in kinds.most_common())


class OperatorCalls:
    """The calls of one operator, by its user agent, on one control plane."""

    def __init__(self, context: BenchContext, agent: str) -> None:
        self._audit = AuditLog(context.plane.audit_log, context.plane.kubeconfig)
        self._agent = agent

    async def mark(self) -> LogPosition:
        return await self._audit.mark()

    async def since(self, mark: LogPosition) -> AuditedCalls:
        """The operator's calls since the mark."""
        calls = await self._audit.calls_since(mark)
        return AuditedCalls(tuple(item for item in calls if self._agent in item.call.user_agent))

    @asynccontextmanager
    async def phase(self, running: RunningOperator) -> AsyncIterator[Phase]:
        """Measure the operator while inside the context."""
        phase, mark = Phase(before=running.usage()), await self.mark()
        began = asyncio.get_running_loop().time()
        yield phase
        phase.seconds = asyncio.get_running_loop().time() - began
        phase.after = running.usage()
        phase.calls = await self.since(mark)

    async def until_quiet(self, seconds: float = _QUIET_SECONDS) -> None:
        """Wait until the operator has written nothing but its lease for a while."""
        while True:
            mark = await self.mark()
            await asyncio.sleep(seconds)
            if not Phase(await self.since(mark)).writes:
                return
