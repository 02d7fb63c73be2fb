"""Kinds and namespaces come and go under a running controller."""

from __future__ import annotations

import secrets

import pytest

from steward.kube.client.client import Client
from steward.kube.objects.kinds import NAMESPACE, Key, Kind, Ref
from steward.testkit import FaultProxy
from tests.runtime.integration.conftest import StartSample
from tests.runtime.integration.support.greetings import NO_ELECTION, World, crd, install, uninstall


@pytest.fixture
def group() -> str:
    """A group of its own: taking away a kind that other tests use would not be kind."""
    return f"g{secrets.token_hex(4)}.sample.steward.dev"


@pytest.fixture
def own_world(client: Client, namespace: str, group: str) -> World:
    return World(client, namespace, Kind(f"{group}/v1", "Greeting"))


async def test_a_kind_that_is_missing_at_the_start_is_waited_for(
    own_world: World, proxy: FaultProxy, start_sample: StartSample, group: str
) -> None:
    async with start_sample(proxy, GREETING_GROUP=group, **NO_ELECTION) as sample:
        await install(own_world.client, crd(group))
        await own_world.greet("hello")
        await own_world.until_greeted("hello")
        assert sample.runs
        await uninstall(own_world.client, f"greetings.{group}")


async def test_a_kind_that_is_removed_and_restored_is_looked_after_again(
    own_world: World, proxy: FaultProxy, start_sample: StartSample, group: str
) -> None:
    await install(own_world.client, crd(group))
    async with start_sample(proxy, GREETING_GROUP=group, **NO_ELECTION) as sample:
        await own_world.greet("before")
        await own_world.until_greeted("before")
        # The Greeting holds our finalizer, so the kind can go only if the controller does its part.
        await uninstall(own_world.client, f"greetings.{group}")
        await install(own_world.client, crd(group))
        await own_world.greet("after")
        await own_world.until_greeted("after")
        assert sample.runs
        await uninstall(own_world.client, f"greetings.{group}")


async def test_a_namespace_that_is_being_deleted_is_let_go_and_takes_nothing_else_along(
    world: World, proxy: FaultProxy, start_sample: StartSample
) -> None:
    doomed = World(world.client, f"{world.namespace}-doomed")
    await world.client.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": doomed.namespace}}
    )
    both = f"{world.namespace},{doomed.namespace}"
    async with start_sample(proxy, STEWARD_NAMESPACES=both, **NO_ELECTION) as sample:
        await doomed.greet("hello")
        await doomed.until_greeted("hello")
        await world.client.delete(Ref(NAMESPACE, Key("", doomed.namespace)))
        # Nothing of ours is left to hold it; when its pods go is up to their nodes.
        await doomed.until_left("hello")
        await world.greet("hello")
        await world.until_greeted("hello")
        assert sample.runs
        assert "Traceback" not in sample.log
