from __future__ import annotations

import aiohttp
import pytest

from steward.runtime.observability.http_server import Address, HttpServer
from steward.runtime.observability.probes import Check, Probes


async def get_page(probes: Probes, path: str) -> tuple[int, str]:
    server = HttpServer(Address("127.0.0.1", 0), probes.pages())
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
    probes.add_readiness_check(Check("caches", lambda: ""))
    assert probes.is_ready
    assert await get_page(probes, "/readyz") == (200, "[+] caches: ok\nok\n")


async def test_a_problem_makes_it_unready_but_not_unhealthy_and_is_named(probes: Probes) -> None:
    probes.add_readiness_check(Check("caches", lambda: "Secret is being listed"))
    assert not probes.is_ready
    assert await get_page(probes, "/readyz") == (500, "[-] caches: Secret is being listed\nnot ok\n")
    assert await get_page(probes, "/healthz") == (200, "ok\n")


async def test_the_lease_holder_is_shown_without_effect_on_the_result(probes: Probes) -> None:
    probes.add_note("lease", lambda: "held by another, standing by")
    assert await get_page(probes, "/readyz") == (200, "[ ] lease: held by another, standing by\nok\n")


async def test_checks_are_evaluated_at_each_request(probes: Probes) -> None:
    problems = ["not yet"]
    probes.add_readiness_check(Check("webhook", lambda: problems[-1]))
    assert (await get_page(probes, "/readyz"))[0] == 500
    problems.append("")
    assert (await get_page(probes, "/readyz"))[0] == 200
