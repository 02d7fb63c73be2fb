"""What must be true after quiet, for clusters and fleets alike. Each oracle returns sentences; none if all is well."""

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import aiohttp
import msgspec

from steward.runtime.status.throttle import MAX_INTERVAL_SECONDS
from steward.testkit import AuditedCalls, AuditLog
from tests.chaos.audited_calls import operator_writes
from tests.chaos.namespace_api import Manifest, NamespaceApi
from tests.chaos.operator_process import SupervisedOperator
from tests.chaos.snapshot import object_name
from tests.chaos.waiting import LifeFailedError
from tests.support.api_server import ApiServer

if TYPE_CHECKING:
    from tests.chaos.life import LifeSubject

TRUE_SECONDS = MAX_INTERVAL_SECONDS + 30.0
REST_SECONDS = 6.0
REST_ATTEMPTS = 10
MEMORY_KIB = 128 * 1024
MAX_LINES = 12
METRICS_SECONDS = 30.0
ERRORS = re.compile("Traceback|Warning: coroutine|was never retrieved|Unclosed")
CUSTOM = {
    "multigres": ("multigresclusters", "cells", "tablegroups", "shards", "toposervers", "shardtemplates"),
    "tenants": ("tenantregistries", "tenanttemplates", "tenants"),
}


async def wait_until_equal(subject: "LifeSubject", operator: SupervisedOperator, seconds: float) -> list[str]:
    """Wait until the state equals that of a fresh one with the same desired state."""
    await subject.make_reference()
    deadline = time.monotonic() + seconds
    while found := await subject.differences():
        if time.monotonic() > deadline:
            head = f"not equal to a fresh one after {seconds:.0f} s without faults:"
            return ["\n    ".join([head, *found[:MAX_LINES]])]
        await operator.ensure_running()
        await asyncio.sleep(1.0)
    return []


async def wait_until_true(subject: "LifeSubject", calls: AuditedCalls) -> list[str]:
    """Wait until nothing is lost, orphaned or false: the progress of an unready object is reported once a minute."""
    deadline = time.monotonic() + TRUE_SECONDS
    while (found := await subject.violations(calls)) and time.monotonic() < deadline:
        await asyncio.sleep(2.0)
    return found


async def writes_at_rest(audit: AuditLog, subject: "LifeSubject", operator: SupervisedOperator) -> list[str]:
    """Wait for a window without writes; last writes such as events may still follow the convergence."""
    writes = ""
    for _ in range(REST_ATTEMPTS):
        mark = await audit.mark()
        await asyncio.sleep(REST_SECONDS)
        writes = operator_writes(await audit.calls_since(mark), subject.namespaces)
        if not writes:
            return []
        await operator.ensure_running()
    return [f"writes at rest, in the last {REST_SECONDS:.0f} s: {writes}"]


def process_problems(operator: SupervisedOperator) -> list[str]:
    found = list(operator.problems)
    for run in operator.runs:
        text = run.log.read_text(errors="replace") if run.log.exists() else ""
        if error := ERRORS.search(text):
            found.append(f"{run.log.name} has an error: {text[max(0, error.start() - 300) :][:1500]}")
    if (peak := operator.peak_kib()) > MEMORY_KIB:
        found.append(f"an operator used {peak // 1024} MiB")
    return found


async def leaks(subject: "LifeSubject", operator: SupervisedOperator, server: ApiServer) -> list[str]:
    """Secret texts in logs, events, custom resources and metrics."""
    places = {run.log.name: run.log.read_text(errors="replace") for run in operator.runs if run.log.exists()}
    places |= {"the metrics": await _metrics(operator)}
    for namespace in subject.namespaces:
        for each in await NamespaceApi(server, namespace).objects("events", *CUSTOM[subject.word]):
            places[object_name(each)] = msgspec.json.encode(each).decode()
    return leaking_places(places, subject.secret_texts())


def leaking_places(places: Mapping[str, str], secrets: Iterable[str]) -> list[str]:
    known = [secret for secret in secrets if secret]
    return [f"a secret is in {name}" for name, text in places.items() if any(each in text for each in known)]


async def _metrics(operator: SupervisedOperator) -> str:
    """The metrics of the last process, which may have just started."""
    url = f"http://127.0.0.1:{operator.runs[-1].metrics_port}/metrics"
    deadline = time.monotonic() + METRICS_SECONDS
    while True:
        try:
            async with aiohttp.ClientSession() as session, session.get(url) as answer:
                return await answer.text()
        except aiohttp.ClientError as error:
            if time.monotonic() > deadline:
                raise LifeFailedError(f"the operator serves no metrics: {error}") from None
            await asyncio.sleep(0.2)


def orphans(objects: Iterable[Manifest], is_managed: Callable[[Manifest], bool]) -> Iterator[str]:
    """Managed objects whose owner does not exist; `objects` contains all possible owners."""
    items = list(objects)
    uids = {each["metadata"]["uid"] for each in items}
    for each in filter(is_managed, items):
        for owner in each["metadata"].get("ownerReferences", ()):
            if owner["uid"] not in uids:
                yield f"{object_name(each)} belongs to {owner['kind']}/{owner['name']}, which is gone"
