import asyncio
import sys

import pytest

from steward.testkit import (
    CrashPoint,
    CrashTiming,
    Drop,
    HoldReply,
    Match,
    Rule,
    crash_process,
    kill,
    kill_at_write,
    start_process,
)

CONTROLLER = """
import os, ssl, time, urllib.request
text = open(os.environ["KUBECONFIG"]).read()
server = text.split("server: ")[1].split()[0]
trust = ssl.create_default_context(cafile=text.split("certificate-authority: ")[1].split()[0])
for number in range(3):
    path = f"{server}/api/v1/namespaces/a/pods/p{number}"
    request = urllib.request.Request(path, data=b"{}", method="PUT")
    urllib.request.urlopen(request, context=trust).read()
time.sleep(60)
"""


def written(fake_api_server):
    return [path.rsplit("/", 1)[1] for method, path in fake_api_server.received if method == "PUT"]


async def third_write(proxy):
    rule = proxy.add(Rule(Match(name="p2"), HoldReply()))
    await rule.held.wait()


@pytest.fixture
async def process(proxy):
    process = await start_process([sys.executable, "-c", CONTROLLER], proxy)
    yield process
    await kill(process)


@pytest.mark.parametrize(
    ("crash_point", "committed"),
    [
        (CrashPoint(1, CrashTiming.BEFORE), []),
        (CrashPoint(1, CrashTiming.AFTER), ["p0"]),
        (CrashPoint(3, CrashTiming.BEFORE), ["p0", "p1"]),
        (CrashPoint(3, CrashTiming.AFTER), ["p0", "p1", "p2"]),
    ],
)
async def test_a_process_is_killed_exactly_at_the_crash_point(
    process, proxy, fake_api_server, crash_point, committed
):
    assert await kill_at_write(process, proxy, crash_point, until=asyncio.Event().wait())
    assert process.returncode == -9
    assert written(fake_api_server) == committed
    assert proxy.rules.entries() == []


async def test_a_process_with_fewer_writes_is_not_killed(process, proxy):
    crash_point = CrashPoint(4, CrashTiming.BEFORE)
    assert not await kill_at_write(process, proxy, crash_point, until=third_write(proxy))
    assert process.returncode is None


async def test_a_process_that_ends_by_itself_is_no_crash(proxy):
    process = await start_process([sys.executable, "-c", ""], proxy, {"ANY": "thing"})
    crash_point = CrashPoint(1, CrashTiming.AFTER)
    assert not await kill_at_write(process, proxy, crash_point, until=asyncio.Event().wait())
    assert process.returncode == 0


async def test_a_write_that_another_fault_ends_is_not_waited_for(process, proxy, monkeypatch):
    monkeypatch.setattr(crash_process, "HELD_SECONDS", 0.1)
    proxy.add(Rule(Match(name="p0"), Drop()))
    point = CrashPoint(1, CrashTiming.AFTER)
    assert await kill_at_write(process, proxy, point, until=asyncio.Event().wait())
    assert process.returncode is not None
