"""Secrets of users are read live, seldom, and again when it matters."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres.controllers.cluster.user_secrets import MISSING_SECONDS, REMEMBER_SECONDS, UserSecrets
from steward.testkit import FakeClock

PASSWORD = Key("shop", "password")


class FakeClient:
    def __init__(self) -> None:
        self.data: dict[str, str] | None = {"password": "old"}
        self.reads = 0

    async def get(self, kind: object, key: Key) -> dict[str, Any]:
        self.reads += 1
        if self.data is None:
            raise NotFound(404, "NotFound", "no such Secret")
        return {
            "data": {name: base64.b64encode(value.encode()).decode() for name, value in self.data.items()}
        }


class World:
    """A server, a cache of our own Secrets, and a clock."""

    def __init__(self) -> None:
        self.client, self.clock = FakeClient(), FakeClock()
        self.ours: dict[Key, Metadata] = {}
        context: Any = SimpleNamespace(
            client=self.client,
            clock=self.clock,
            rules=SimpleNamespace(secret=None),
            store=lambda rule: self.ours,
        )
        self.secrets = UserSecrets(context)

    def version(self, version: str) -> None:
        self.ours[PASSWORD] = Metadata(metadata=ObjectMeta(name="password", resource_version=version))


@pytest.fixture
def world() -> World:
    return World()


async def test_a_secret_of_others_is_remembered_for_a_while_and_then_followed(world: World) -> None:
    assert await world.secrets.value(PASSWORD, "password") == b"old"
    world.client.data = {"password": "new"}
    assert await world.secrets.value(PASSWORD, "password") == b"old"
    world.clock.advance(REMEMBER_SECONDS + 1)
    assert await world.secrets.value(PASSWORD, "password") == b"new"
    assert world.client.reads == 2


async def test_a_secret_of_ours_is_read_again_only_when_it_changed(world: World) -> None:
    world.version("1")
    await world.secrets.value(PASSWORD, "password")
    world.clock.advance(10 * REMEMBER_SECONDS)
    await world.secrets.value(PASSWORD, "password")
    assert world.client.reads == 1
    world.client.data = {"password": "new"}
    world.version("2")
    assert await world.secrets.value(PASSWORD, "password") == b"new"


async def test_a_secret_that_is_missing_is_looked_for_again_soon(world: World) -> None:
    world.client.data = None
    assert not await world.secrets.exists(PASSWORD)
    world.client.data = {"password": "here"}
    world.clock.advance(MISSING_SECONDS + 1)
    assert await world.secrets.exists(PASSWORD)
