"""Certificates of the backup service through the years: the clock is ours, the Secrets are on a real API server."""

import base64
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.admission.certificate import is_signed_by, read_certificate, split_bundle
from steward.kube.client import Client, connect
from steward.kube.config import ConfigSource, load_settings
from steward.kube.kinds import SECRET, Key, Ref
from steward.kube.meta import key_of
from steward.kube.options import DeleteOptions
from steward.kube.patches import MergePatch
from steward.local.control_plane import ControlPlane
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.ground import Ground
from steward.multigres.rules import SHARD, Rules
from steward.multigres.views import ShardView
from steward.runtime.carry import Carried, Carrier, Effect, Outcome
from steward.runtime.plan import Plan, Status
from steward.runtime.reconcile import RequeueAfter
from steward.testkit import FakeClock
from tests.kubectl import Kubectl

HOUR, DAY, YEAR = 3600.0, 86_400.0, 365 * 86_400.0
CA, LEAF = "s-pgbackrest-ca", "s-pgbackrest-tls"
SPEC = {
    "databaseName": "postgres",
    "tableGroupName": "default",
    "shardName": "0-inf",
    "globalTopoServer": {"address": "a", "rootPath": "/r", "implementation": "etcd"},
    "pools": {"main": {"cells": ["z1"], "replicasPerCell": 1}},
}


class Told:
    """Takes plans and keeps what they would report."""

    def __init__(self) -> None:
        self.conditions: list[Any] = []

    async def carry_out(self, plan: Plan, about: Ref) -> Outcome:
        for step in plan:
            if isinstance(step, Status):
                self.conditions = step.status["conditions"]
        return Outcome([Carried(step, Effect.UNCHANGED) for step in plan])


class Scene:
    """One shard, its certificate controller and the Secrets that it keeps."""

    def __init__(self, client: Client, shard: ShardView) -> None:
        self.client, self.clock, self.told = client, FakeClock(), Told()
        self.key = key_of(shard)
        self.namespace = self.key.namespace
        shards = {self.key: shard}
        ground = SimpleNamespace(
            client=client,
            clock=self.clock,
            rules=Rules(""),
            store=lambda rule: shards,
            now=lambda: "2026-01-01T00:00:00Z",
        )
        self.reconciler = CertificateReconciler(cast(Ground, ground), cast(Carrier, self.told))

    async def look(self) -> float:
        """One reconcile; the seconds until the next."""
        result = await self.reconciler.reconcile(self.key)
        assert isinstance(result, RequeueAfter)
        return result.seconds

    async def data(self, name: str) -> dict[str, bytes]:
        secret = await self.client.get(SECRET, Key(self.namespace, name))
        return {key: base64.b64decode(value) for key, value in secret["data"].items()}


@pytest.fixture
async def scene(control_plane: ControlPlane, kubectl: Kubectl, namespace: str) -> AsyncIterator[Scene]:
    client = await connect(load_settings(ConfigSource(kubeconfig=str(control_plane.kubeconfig))))
    # It must exist: the garbage collector takes away what belongs to nobody.
    metadata = {"name": "s", "namespace": namespace, "labels": {"multigres.com/cluster": "demo"}}
    shard = {"apiVersion": SHARD.api_version, "kind": SHARD.kind, "metadata": metadata, "spec": SPEC}
    yield Scene(client, msgspec.json.decode(await client.create(shard), type=ShardView))
    await client.close()


async def test_the_controller_comes_back_by_itself_within_the_hour(scene: Scene) -> None:
    assert 0 < await scene.look() <= HOUR
    [condition] = scene.told.conditions
    assert (condition["type"], condition["status"]) == ("BackupCertificatesReady", "True")


async def test_a_leaf_is_renewed_in_time_and_the_authority_stays(scene: Scene) -> None:
    await scene.look()
    first, authority = await scene.data(LEAF), await scene.data(CA)
    scene.clock.advance(YEAR - 29 * DAY)
    await scene.look()
    second = await scene.data(LEAF)
    assert second["tls.crt"] != first["tls.crt"]
    assert await scene.data(CA) == authority
    facts = read_certificate(second["tls.crt"])
    assert facts is not None
    assert facts.not_after > scene.clock.now() + 300 * DAY


async def test_both_authorities_are_trusted_until_the_last_leaf_is_replaced(scene: Scene) -> None:
    await scene.look()
    old_ca = (await scene.data(CA))["ca.crt"]
    scene.clock.advance(10 * YEAR - 29 * DAY)
    await scene.look()
    while True:
        leaf = await scene.data(LEAF)
        new_ca = (await scene.data(CA))["ca.crt"]
        trusted = split_bundle(leaf["ca.crt"])
        # At every moment whoever shows this leaf is trusted by whoever holds this bundle.
        assert any(is_signed_by(leaf["tls.crt"], one) for one in trusted)
        if is_signed_by(leaf["tls.crt"], new_ca):
            break
        scene.clock.advance(await scene.look())
    assert new_ca != old_ca
    scene.clock.advance(2 * DAY)
    await scene.look()
    assert split_bundle((await scene.data(LEAF))["ca.crt"]) == (new_ca,)


@pytest.mark.parametrize("name", [CA, LEAF])
async def test_a_deleted_secret_comes_back(scene: Scene, name: str) -> None:
    await scene.look()
    await scene.client.delete(Ref(SECRET, Key(scene.namespace, name)), DeleteOptions())
    await scene.look()
    assert await scene.data(name)


@pytest.mark.parametrize(("name", "key"), [(CA, "ca.key"), (LEAF, "tls.crt"), (LEAF, "tls.key")])
async def test_a_corrupted_secret_heals(scene: Scene, name: str, key: str) -> None:
    await scene.look()
    broken = MergePatch({"data": {key: base64.b64encode(b"rubbish").decode()}})
    await scene.client.patch(Ref(SECRET, Key(scene.namespace, name)), broken)
    await scene.look()
    leaf = await scene.data(LEAF)
    assert (await scene.data(name))[key] != b"rubbish"
    assert any(is_signed_by(leaf["tls.crt"], one) for one in split_bundle(leaf["ca.crt"]))


@pytest.mark.parametrize("years", [30, -30], ids=["ahead", "behind"])
async def test_a_clock_that_was_wrong_for_a_while_locks_nobody_out(scene: Scene, years: int) -> None:
    await scene.look()
    scene.clock.jump(years * YEAR)
    await scene.look()
    scene.clock.jump(-years * YEAR)
    await scene.look()
    scene.clock.advance(2 * DAY)
    await scene.look()
    facts = read_certificate((await scene.data(LEAF))["tls.crt"])
    assert facts is not None
    assert facts.not_before <= scene.clock.now() < facts.not_after
    [condition] = scene.told.conditions
    assert condition["status"] == "True"
