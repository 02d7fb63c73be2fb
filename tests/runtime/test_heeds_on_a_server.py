"""Own writes and strangers' edits, told apart on a real API server."""

from __future__ import annotations

import msgspec
import pytest

from steward.kube.client import Client
from steward.kube.kinds import CONFIG_MAP, SECRET, Key, Manifest, Ref
from steward.kube.meta import Metadata
from steward.kube.patches import MergePatch
from steward.kube.selectors import CacheRule
from steward.runtime.connection import Connection
from steward.runtime.logs import Work, work_in_hand
from steward.runtime.manager import Manager
from steward.runtime.plan import Apply
from steward.runtime.queue import Lane
from steward.runtime.settings import Settings
from steward.runtime.triggers import Heeds, Listener, Owns
from tests.faults.greetings import eventually

OURS = "engine-test"


async def owner_in(namespace: str, client: Client) -> Metadata:
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "owner", "namespace": namespace}}
    return msgspec.json.decode(await client.create(manifest), type=Metadata)


def child_of(owner: Metadata, value: str) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": owner.metadata.uid}
    metadata = {
        "name": "child",
        "namespace": owner.metadata.namespace,
        "ownerReferences": [{**reference, "controller": True}],
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": value}}


@pytest.mark.parametrize("edit", ["edited", "deleted"])
async def test_a_reconcile_is_woken_by_strangers_and_not_by_its_own_writes(
    connection: Connection, settings: Settings, client: Client, namespace: str, edit: str
) -> None:
    manager = Manager(connection, settings)
    connection.guard.ask(lambda: True)
    rule = CacheRule(CONFIG_MAP, Metadata, {namespace: ""}, owned_by=OURS)
    store, carrier, looks = manager.store(rule), manager.carrier(OURS), list[Key]()
    owner = await owner_in(namespace, client)
    child, key = Ref(CONFIG_MAP, Key(namespace, "child")), Key(namespace, "owner")

    def wake(woken: Key, lane: Lane, gather: float) -> None:
        looks.append(woken)

    async def is_looked_at() -> bool:
        return key in looks

    await manager.caches.start()
    try:
        await manager.caches.wait_synced()
        Listener(Owns(rule, heeds=Heeds.OTHERS), SECRET, wake, pytest.fail).listen_to(store, "keeper")
        looks.clear()
        work_in_hand.set(Work("keeper", "Secret", key, 1))
        for value in ("1", "2"):
            await carrier.carry_out((Apply(child_of(owner, value)),), Ref(SECRET, key))
        assert looks == []
        if edit == "edited":
            await client.patch(child, MergePatch({"metadata": {"annotations": {"by": "them"}}}))
            # What a stranger did is in our next answer, or comes before it: a look follows either way.
            await carrier.carry_out((Apply(child_of(owner, "3")),), Ref(SECRET, key))
        else:
            await client.delete(child)
        await eventually(is_looked_at, "a look after what a stranger did")
    finally:
        await manager.caches.stop()
