"""Services that need an address go through a few at a time, and nothing else waits for them."""

import asyncio
from typing import Any

import pytest

from steward.kube.objects.kinds import SERVICE, Key, Ref
from steward.runtime.plan.service_ip_limit import ADDRESSES_AT_ONCE, Narrows, takes_an_address
from steward.runtime.plan.steps import Apply, Create, Delete, Step
from steward.testkit.clock import let_others_run


def made(kind: str = "Service", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "shop"}, "spec": spec}


NEW = Apply(made(), only_if_absent=True)


@pytest.mark.parametrize(
    ("step", "takes"),
    [
        (NEW, True),
        (Create(made()), True),
        (Apply(made()), False),
        (Apply(made(clusterIP="None"), only_if_absent=True), False),
        (Apply(made("PersistentVolumeClaim"), only_if_absent=True), False),
        (Delete(Ref(SERVICE, Key("shop", "a")), "uid", "because"), False),
    ],
    ids=["new", "created", "there already", "headless", "another kind", "deleted"],
)
def test_what_takes_an_address(step: Step, takes: bool) -> None:
    assert takes_an_address(step) is takes


async def test_a_few_at_a_time_and_nobody_else_waits() -> None:
    narrows, end, under_way = Narrows(), asyncio.Event(), []

    async def write(step: Step) -> None:
        async with narrows.of(step):
            under_way.append(step)
            await end.wait()

    other = Apply(made("ConfigMap"), only_if_absent=True)
    tasks = [asyncio.create_task(write(step)) for step in (*[NEW] * (ADDRESSES_AT_ONCE + 3), *[other] * 5)]
    await let_others_run()
    assert (under_way.count(NEW), under_way.count(other)) == (ADDRESSES_AT_ONCE, 5)
    end.set()
    await asyncio.gather(*tasks)
    assert under_way.count(NEW) == ADDRESSES_AT_ONCE + 3
