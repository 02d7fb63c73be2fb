"""`/healthz` and `/readyz`: every request evaluates the checks.

Healthy means that the process runs; ready means that it can do its work: caches synced, webhooks served. A standby
replica is ready, because it serves webhooks; the body shows which replica leads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    # Code that only declares checks, such as `steward preview`, does not need to load a web server.
    from aiohttp import web

    from steward.runtime.observability.http_server import Page


class Check(NamedTuple):
    """`problem` returns an empty string when the check passes, else one sentence."""

    name: str
    problem: Callable[[], str]


class Probes:
    def __init__(self) -> None:
        self._readiness: list[Check] = []
        self._notes: list[Check] = []

    def add_readiness_check(self, check: Check) -> None:
        self._readiness.append(check)

    def add_note(self, name: str, state: Callable[[], str]) -> None:
        """A line of the body that does not affect the result."""
        self._notes.append(Check(name, state))

    @property
    def is_ready(self) -> bool:
        return not any(check.problem() for check in self._readiness)

    def pages(self) -> dict[str, Page]:
        return {"/healthz": self._healthz, "/readyz": self._readyz}

    async def _healthz(self, request: web.BaseRequest) -> web.StreamResponse:
        return self._answer([])

    async def _readyz(self, request: web.BaseRequest) -> web.StreamResponse:
        return self._answer(self._readiness)

    def _answer(self, checks: list[Check]) -> web.Response:
        found = [(check.name, check.problem()) for check in checks]
        lines = [f"[-] {name}: {problem}" if problem else f"[+] {name}: ok" for name, problem in found]
        lines += [f"[ ] {note.name}: {note.problem()}" for note in self._notes]
        from aiohttp import web

        failed = any(problem for _, problem in found)
        lines.append("not ok" if failed else "ok")
        return web.Response(text="\n".join(lines) + "\n", status=500 if failed else 200)
