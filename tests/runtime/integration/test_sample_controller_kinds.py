"""Kinds and namespaces are created and deleted while a controller runs."""

from __future__ import annotations

import secrets

import pytest

from steward.kube.client.client import Client
from steward.kube.objects.kinds import NAMESPACE, Key, Kind, Ref
from steward.testkit import FaultProxy
from tests.runtime.integration.support.greetings import (
    NO_ELECTION,
    GreetingClient,
    StartSample,
    crd,
    install,
    uninstall,
)


@pytest.fixture
def group() -> str:
    """A group of its own: other tests use the usual one."""
    return f"g{secrets.token_hex(4)}.sample.steward.dev"


@pytest.fixture
def own_greetings(client: Client, namespace: str, group: str) -> GreetingClient:
    return GreetingClient(client, namespace, Kind(f"{group}/v1", "Greeting"))


async def test_a_kind_that_is_missing_at_the_start_is_waited_for(
    own_greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, group: str
) -> None:
    async with start_sample(proxy, GREETING_GROUP=group, **NO_ELECTION) as sample:
        await install(own_greetings.client, crd(group))
        await own_greetings.create("hello")
        await own_greetings.wait_until_reconciled("hello")
        assert sample.runs
        await uninstall(own_greetings.client, f"greetings.{group}")


async def test_a_kind_that_is_removed_and_restored_is_reconciled_again(
    own_greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample, group: str
) -> None:
    await install(own_greetings.client, crd(group))
    async with start_sample(proxy, GREETING_GROUP=group, **NO_ELECTION) as sample:
        await own_greetings.create("before")
        await own_greetings.wait_until_reconciled("before")
        # The Greeting has our finalizer, so the kind is deleted only if the controller removes it.
        await uninstall(own_greetings.client, f"greetings.{group}")
        await install(own_greetings.client, crd(group))
        await own_greetings.create("after")
        await own_greetings.wait_until_reconciled("after")
        assert sample.runs
        await uninstall(own_greetings.client, f"greetings.{group}")


async def test_a_terminating_namespace_is_deleted_without_affecting_others(
    greetings: GreetingClient, proxy: FaultProxy, start_sample: StartSample
) -> None:
    doomed = GreetingClient(greetings.client, f"{greetings.namespace}-doomed")
    await greetings.client.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": doomed.namespace}}
    )
    both = f"{greetings.namespace},{doomed.namespace}"
    async with start_sample(proxy, STEWARD_NAMESPACES=both, **NO_ELECTION) as sample:
        await doomed.create("hello")
        await doomed.wait_until_reconciled("hello")
        await greetings.client.delete(Ref(NAMESPACE, Key("", doomed.namespace)))
        # No object of ours blocks the deletion; pods are deleted by their nodes.
        await doomed.wait_until_deleted("hello")
        await greetings.create("hello")
        await greetings.wait_until_reconciled("hello")
        assert sample.runs
        assert "Traceback" not in sample.log
