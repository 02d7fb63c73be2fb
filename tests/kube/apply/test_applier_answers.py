"""The answer to a write and its watch event may arrive in either order, with an edit of another client between them."""

from typing import Any

import msgspec
import pytest

from steward.kube.apply.applier import Applier, ApplyOutcome
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import ObjectChange, Store
from steward.kube.objects.kinds import CONFIG_MAP, Key, Manifest
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import ApplyOptions

OURS = ApplyOptions(manager="us")
KEY = Key("n", "a")


def manifest(value: str) -> Manifest:
    metadata = {"name": "a", "namespace": "n"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": value}}


def live(value: str, version: int, *managers: str) -> bytes:
    """The live object, with its field owned by these managers."""
    entries = [
        {
            "manager": manager,
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsV1": {"f:data": {"f:x": {}}},
        }
        for manager in managers
    ]
    metadata = {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "resourceVersion": str(version),
        "managedFields": entries,
    }
    return msgspec.json.encode({**manifest(value), "metadata": metadata})


class Server:
    """A fake client that sends given watch events before it answers."""

    def __init__(self, store: Store[Metadata]) -> None:
        self._store = store
        self.version = 0
        self.sent = 0
        self.shown_first: list[bytes] = []

    async def apply(self, given: Manifest, options: ApplyOptions) -> bytes:
        self.sent += 1
        self.version += 1
        answer = live(given["data"]["x"], self.version, "us")
        for event in [answer, *self.shown_first]:
            self._store.put_watched(0, event)
        self.shown_first = []
        return answer


@pytest.fixture
def store() -> Store[Metadata]:
    store = Store(CacheRule(CONFIG_MAP, Metadata, owned_by="us"))
    store.finish_list(0, set(), "0")
    return store


@pytest.fixture
def server(store: Store[Metadata]) -> Server:
    return Server(store)


@pytest.fixture
def applier(server: Server) -> Applier:
    return Applier(server)  # type: ignore[arg-type]


async def test_a_watch_event_before_the_answer_notifies_once_and_is_not_applied_again(
    applier: Applier, server: Server, store: Store[Metadata]
) -> None:
    changes: list[ObjectChange[Any]] = []
    store.subscribe(changes.append)
    for value in ("1", "2"):
        assert (await applier.apply(manifest(value), OURS, store)).outcome is not ApplyOutcome.UNCHANGED
        assert (await applier.apply(manifest(value), OURS, store)).outcome is ApplyOutcome.UNCHANGED
    assert server.sent == 2
    assert len(changes) == 2


@pytest.mark.parametrize("writes_before", [0, 1])
async def test_a_foreign_edit_that_the_watch_shows_before_our_answer_is_put_back_by_the_next_apply(
    applier: Applier, server: Server, store: Store[Metadata], writes_before: int
) -> None:
    for number in range(writes_before):
        await applier.apply(manifest(f"before {number}"), OURS, store)
    server.shown_first = [live("theirs", server.version + 2, "them")]
    await applier.apply(manifest("ours"), OURS, store)
    seen = store.get(KEY)
    assert seen is not None
    assert seen.metadata.resource_version == str(server.version + 1)
    server.version += 1

    assert (await applier.apply(manifest("ours"), OURS, store)).outcome is ApplyOutcome.CHANGED
