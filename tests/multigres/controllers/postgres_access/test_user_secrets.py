"""Secrets of users are read live and cached for a short time."""

import base64
from types import SimpleNamespace
from typing import Any

import pytest

from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres.controllers.postgres_access.user_secrets import (
    CACHED_SECONDS,
    MISSING_SECONDS,
    UserSecrets,
)
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


class Setup:
    """A client, a cache of managed Secrets, and a clock."""

    def __init__(self) -> None:
        self.client, self.clock = FakeClient(), FakeClock()
        self.managed: dict[Key, Metadata] = {}
        context: Any = SimpleNamespace(
            client=self.client,
            clock=self.clock,
            rules=SimpleNamespace(secret=None),
            store=lambda rule: self.managed,
        )
        self.secrets = UserSecrets(context)

    def version(self, version: str) -> None:
        self.managed[PASSWORD] = Metadata(metadata=ObjectMeta(name="password", resource_version=version))


@pytest.fixture
def setup() -> Setup:
    return Setup()


async def test_a_foreign_secret_is_cached_for_a_while_and_then_read_again(setup: Setup) -> None:
    assert await setup.secrets.value(PASSWORD, "password") == b"old"
    setup.client.data = {"password": "new"}
    assert await setup.secrets.value(PASSWORD, "password") == b"old"
    setup.clock.advance(CACHED_SECONDS + 1)
    assert await setup.secrets.value(PASSWORD, "password") == b"new"
    assert setup.client.reads == 2


async def test_a_managed_secret_is_read_again_only_when_it_changed(setup: Setup) -> None:
    setup.version("1")
    await setup.secrets.value(PASSWORD, "password")
    setup.clock.advance(10 * CACHED_SECONDS)
    await setup.secrets.value(PASSWORD, "password")
    assert setup.client.reads == 1
    setup.client.data = {"password": "new"}
    setup.version("2")
    assert await setup.secrets.value(PASSWORD, "password") == b"new"


async def test_a_missing_secret_is_read_again_soon(setup: Setup) -> None:
    setup.client.data = None
    assert not await setup.secrets.exists(PASSWORD)
    setup.client.data = {"password": "here"}
    setup.clock.advance(MISSING_SECONDS + 1)
    assert await setup.secrets.exists(PASSWORD)
