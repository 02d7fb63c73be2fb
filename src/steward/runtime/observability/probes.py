"""`/healthz` and `/readyz`, honest: what they say is looked up when they are asked.

Healthy means that the process turns; ready means that it can do its work: caches synced, webhooks serving. A standby
replica is ready, for it serves webhooks; who leads is shown in the body, because it is the next question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # Whoever only declares checks, as `steward preview` does, need not wait for a web server.
    from aiohttp import web
    from aiohttp.typedefs import Handler


class Check(NamedTuple):
    """`problem` returns nothing when all is well, else one sentence."""

    name: str
    problem: Callable[[], str]


class Probes:
    def __init__(self) -> None:
        self._health: list[Check] = []
        self._readiness: list[Check] = []
        self._notes: list[Check] = []

    def needed_for_health(self, check: Check) -> None:
        self._health.append(check)

    def needed_for_readiness(self, check: Check) -> None:
        self._readiness.append(check)

    def shown(self, name: str, state: Callable[[], str]) -> None:
        """A line of the body that decides nothing."""
        self._notes.append(Check(name, state))

    @property
    def is_ready(self) -> bool:
        return not any(check.problem() for check in (*self._health, *self._readiness))

    def pages(self) -> dict[str, Handler]:
        return {"/healthz": self._healthz, "/readyz": self._readyz}

    async def _healthz(self, request: web.BaseRequest) -> web.StreamResponse:
        return self._answer(self._health)

    async def _readyz(self, request: web.BaseRequest) -> web.StreamResponse:
        return self._answer([*self._health, *self._readiness])

    def _answer(self, checks: list[Check]) -> web.Response:
        found = [(check.name, check.problem()) for check in checks]
        lines = [f"[-] {name}: {problem}" if problem else f"[+] {name}: ok" for name, problem in found]
        lines += [f"[ ] {note.name}: {note.problem()}" for note in self._notes]
        from aiohttp import web

        failed = any(problem for _, problem in found)
        lines.append("not ok" if failed else "ok")
        return web.Response(text="\n".join(lines) + "\n", status=500 if failed else 200)
