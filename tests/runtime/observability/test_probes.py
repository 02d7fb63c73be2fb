from __future__ import annotations

import aiohttp
import pytest

from steward.runtime.observability.http_server import Address, Server
from steward.runtime.observability.probes import Check, Probes


async def ask(probes: Probes, path: str) -> tuple[int, str]:
    server = Server(Address("127.0.0.1", 0), probes.pages())
    await server.start()
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{server.port}{path}") as answer,
    ):
        found = answer.status, await answer.text()
    await server.stop()
    return found


@pytest.fixture
def probes() -> Probes:
    return Probes()


async def test_a_process_without_problems_is_ready(probes: Probes) -> None:
    probes.needed_for_readiness(Check("caches", lambda: ""))
    assert probes.is_ready
    assert await ask(probes, "/readyz") == (200, "[+] caches: ok\nok\n")


async def test_a_problem_makes_it_unready_but_not_unhealthy_and_is_named(probes: Probes) -> None:
    probes.needed_for_readiness(Check("caches", lambda: "Secret is being listed"))
    assert not probes.is_ready
    assert await ask(probes, "/readyz") == (500, "[-] caches: Secret is being listed\nnot ok\n")
    assert await ask(probes, "/healthz") == (200, "ok\n")


async def test_a_problem_of_health_makes_it_unready_too(probes: Probes) -> None:
    probes.needed_for_health(Check("loop", lambda: "stands still"))
    assert (await ask(probes, "/healthz"))[0] == 500
    assert (await ask(probes, "/readyz"))[0] == 500


async def test_who_holds_the_lease_is_shown_and_decides_nothing(probes: Probes) -> None:
    probes.shown("lease", lambda: "held by another, standing by")
    assert await ask(probes, "/readyz") == (200, "[ ] lease: held by another, standing by\nok\n")


async def test_the_answer_is_looked_up_when_it_is_asked_for(probes: Probes) -> None:
    problems = ["not yet"]
    probes.needed_for_readiness(Check("webhook", lambda: problems[-1]))
    assert (await ask(probes, "/readyz"))[0] == 500
    problems.append("")
    assert (await ask(probes, "/readyz"))[0] == 200
