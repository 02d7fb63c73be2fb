"""Concurrent creates of Services with a ClusterIP are limited; other steps are not."""

import asyncio
from typing import Any

import pytest

from steward.kube.objects.kinds import SERVICE, Key, Ref
from steward.runtime.plan.service_ip_limit import MAX_CONCURRENT_ALLOCATIONS, ServiceIpLimit, allocates_ip
from steward.runtime.plan.steps import Apply, Create, Delete, Step
from steward.testkit.clock import let_others_run


def service_manifest(kind: str = "Service", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "shop"}, "spec": spec}


NEW = Apply(service_manifest(), only_if_absent=True)


@pytest.mark.parametrize(
    ("step", "takes"),
    [
        (NEW, True),
        (Create(service_manifest()), True),
        (Apply(service_manifest()), False),
        (Apply(service_manifest(clusterIP="None"), only_if_absent=True), False),
        (Apply(service_manifest("PersistentVolumeClaim"), only_if_absent=True), False),
        (Delete(Ref(SERVICE, Key("shop", "a")), "uid", "because"), False),
    ],
    ids=["new", "created", "there already", "headless", "another kind", "deleted"],
)
def test_which_steps_allocate_an_ip(step: Step, takes: bool) -> None:
    assert allocates_ip(step) is takes


async def test_allocations_are_limited_and_other_steps_do_not_wait() -> None:
    service_ip_limit, end, under_way = ServiceIpLimit(), asyncio.Event(), []

    async def write(step: Step) -> None:
        async with service_ip_limit.acquire_for(step):
            under_way.append(step)
            await end.wait()

    other = Apply(service_manifest("ConfigMap"), only_if_absent=True)
    tasks = [
        asyncio.create_task(write(step)) for step in (*[NEW] * (MAX_CONCURRENT_ALLOCATIONS + 3), *[other] * 5)
    ]
    await let_others_run()
    assert (under_way.count(NEW), under_way.count(other)) == (MAX_CONCURRENT_ALLOCATIONS, 5)
    end.set()
    await asyncio.gather(*tasks)
    assert under_way.count(NEW) == MAX_CONCURRENT_ALLOCATIONS + 3
