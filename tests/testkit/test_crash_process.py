import asyncio
import sys

import pytest

from steward.testkit import HoldReply, Match, Moment, Rule, WriteMoment, kill, kill_at_write, start_process

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


def written(stand_in):
    return [path.rsplit("/", 1)[1] for method, path in stand_in.received if method == "PUT"]


async def third_answer(proxy):
    rule = proxy.add(Rule(Match(name="p2"), HoldReply()))
    await rule.held.wait()


@pytest.fixture
async def process(proxy):
    process = await start_process([sys.executable, "-c", CONTROLLER], proxy)
    yield process
    await kill(process)


@pytest.mark.parametrize(
    ("at", "committed"),
    [
        (WriteMoment(1, Moment.BEFORE), []),
        (WriteMoment(1, Moment.AFTER), ["p0"]),
        (WriteMoment(3, Moment.BEFORE), ["p0", "p1"]),
        (WriteMoment(3, Moment.AFTER), ["p0", "p1", "p2"]),
    ],
)
async def test_a_process_dies_exactly_at_the_write_that_was_named(process, proxy, stand_in, at, committed):
    assert await kill_at_write(process, proxy, at, until=asyncio.Event().wait())
    assert process.returncode == -9
    assert written(stand_in) == committed
    assert proxy.rules.entries() == []


async def test_a_process_that_writes_less_than_that_is_not_killed(process, proxy):
    at = WriteMoment(4, Moment.BEFORE)
    assert not await kill_at_write(process, proxy, at, until=third_answer(proxy))
    assert process.returncode is None


async def test_a_process_that_ends_by_itself_is_no_crash(proxy):
    process = await start_process([sys.executable, "-c", ""], proxy, {"ANY": "thing"})
    at = WriteMoment(1, Moment.AFTER)
    assert not await kill_at_write(process, proxy, at, until=asyncio.Event().wait())
    assert process.returncode == 0
