"""The page with a large fleet: time to the first view, memory with twenty readers, and the cost of another identity.

The Tenants are created without an operator, with the statuses that one would write, so that only the page works.
Readers log in with a token of one service account, as in a cluster: each has a session of its own, and all share one
workspace. A first view is the shell and the first event of the stream, over TLS. The first reader of an identity gets
the aggregates first, and the list when the API server has sent all Tenants.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from bench.measuring.concurrency import run_concurrently
from bench.measuring.figures import Figure, at_most
from bench.measuring.operator import install_crds
from bench.measuring.options import Options, read_options
from bench.measuring.page_server import PageServer, reading, running_page
from bench.measuring.plane import BenchContext, bench_context
from bench.measuring.report import Report, progress
from bench.measuring.scenario_run import run

DEFAULT = Options(objects=10_000, rounds=5)
READERS = 20
DEPTH = 32
GROUP = "/apis/operator.kubernetes-tenants.org/v1/namespaces/{}/{}"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SOURCE = {"type": "sqlite", "syncInterval": "30s", "sqlite": {"file": "rows.db", "table": "customers"}}
COLUMNS = {"uid": "id", "hostOrUrl": "url", "activate": "active"}


def main(argv: Sequence[str]) -> int:
    return run(measure, Report("page", read_options("page", argv, DEFAULT)))


async def measure(report: Report) -> None:
    async with bench_context() as context:
        await install_crds(context.bare)
        progress(f"creating {report.options.objects} Tenants")
        await create_fleet(context, report.options.objects)
        one, other = [await create_account(context, name) for name in ("one", "other")]
        async with running_page(context.plane) as page, AsyncExitStack() as readers:
            report.add(Figure("memory before the first reader", page.rss_mb, "MB"))
            await measure_first_reader(report, page, readers, (one, "/now"))
            await measure_readers(report, page, readers, (one, context.namespace))
            await measure_changes(report, page, context, one)
            alone = page.rss_mb
            registry = f"/registry/{context.namespace}/fleet"
            await measure_first_reader(report, page, readers, (other, registry), "another identity: ")
            report.add(Figure("another identity: memory", page.rss_mb - alone, "MB"))


async def measure_first_reader(
    report: Report, page: PageServer, readers: AsyncExitStack, who: tuple[str, str], prefix: str = ""
) -> None:
    """Of an identity: its workspace has read nothing yet."""
    token, view = who
    progress(f"{prefix}first reader of {view}")
    reader = await readers.enter_async_context(reading(page, token, view))
    report.add(
        Figure(f"{prefix}login with access reviews", reader.login, "s"),
        Figure(f"{prefix}first reader, first view", reader.seconds, "s", target=at_most(1.0)),
        Figure(f"{prefix}first reader, all Tenants", await reader.wait_complete(), "s"),
    )


async def measure_readers(
    report: Report, page: PageServer, readers: AsyncExitStack, who: tuple[str, str]
) -> None:
    token, namespace = who
    views = ("/now", f"/registry/{namespace}/fleet")
    times = []
    for number in range(1, READERS):
        progress(f"reader {number + 1}")
        reader = await readers.enter_async_context(reading(page, token, views[number % 2]))
        times.append(reader.seconds)
    report.add(
        Figure("further readers, slowest first view", max(times), "s", target=at_most(1.0)),
        Figure(f"memory with {READERS} readers", page.rss_mb, "MB", target=at_most(150.0)),
    )


async def measure_changes(report: Report, page: PageServer, context: BenchContext, token: str) -> None:
    """From the write of a Tenant's status to the event that a reader gets."""
    namespace, times = context.namespace, []
    async with reading(page, token, f"/registry/{namespace}/fleet?q=t00000") as reader:
        for number in range(report.options.rounds):
            began = time.perf_counter()
            await write_tenant_status(context, "t00000", ready=number % 2)
            await reader.wait_for_change()
            times.append(time.perf_counter() - began)
    report.add(Figure("a change reaches a reader, slowest", max(times), "s"))


async def create_fleet(context: BenchContext, count: int) -> None:
    namespace = context.namespace
    registry = {"source": SOURCE, "valueMappings": COLUMNS}
    await create(context, "tenantregistries", "TenantRegistry", "fleet", registry)
    await create(context, "tenanttemplates", "TenantTemplate", "web", {"registryId": "fleet"})
    names = [f"t{number:05}" for number in range(count)]

    async def create_tenant(name: str) -> None:
        await create(context, "tenants", "Tenant", name, {"uid": name, "templateRef": "web"})
        await write_tenant_status(context, name, ready=1)

    await run_concurrently(DEPTH, create_tenant, names)
    counts = {"desired": count, "ready": count, "failed": 0, "activeRows": count}
    await write_status(context, "tenantregistries/fleet", counts)
    await write_status(context, "tenanttemplates/web", {"totalTenants": count, "readyTenants": count})
    progress(f"{count} Tenants in {namespace}")


async def create(context: BenchContext, plural: str, kind: str, name: str, spec: dict[str, Any]) -> None:
    labels = {"kubernetes-tenants.org/registry": "fleet"} if kind == "Tenant" else {}
    manifest = {
        "apiVersion": "operator.kubernetes-tenants.org/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
    }
    await context.bare.create(GROUP.format(context.namespace, plural), manifest)


async def write_tenant_status(context: BenchContext, name: str, *, ready: int) -> None:
    message = "" if ready else "Deployment app is not ready"
    await write_status(
        context, f"tenants/{name}", {"desiredResources": 1, "readyResources": ready}, message=message
    )


async def write_status(
    context: BenchContext, resource: str, counts: dict[str, int], message: str = ""
) -> None:
    """`message` says why the object is not ready; "" if it is."""
    condition = {
        "type": "Ready",
        "status": "False" if message else "True",
        "reason": "Reconciled",
        "message": message,
        "lastTransitionTime": "2027-01-01T00:00:00Z",
        "observedGeneration": 1,
    }
    status = {"observedGeneration": 1, "conditions": [condition], **counts}
    path = GROUP.format(context.namespace, f"{resource}/status")
    await context.bare.merge(path, {"status": status})


async def create_account(context: BenchContext, name: str) -> str:
    """A service account that may read everything, and a token of it."""
    namespace = context.namespace
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    await context.bare.create(path, {"metadata": {"name": name}})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": f"{namespace}-{name}"}, "roleRef": role, "subjects": [subject]}
    await context.bare.create(BINDINGS, binding)
    answer = await context.bare.create(f"{path}/{name}/token", {"spec": {"expirationSeconds": 3600}})
    return str(msgspec.json.decode(answer)["status"]["token"])
