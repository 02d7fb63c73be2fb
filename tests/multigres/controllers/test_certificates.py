"""Certificates of the backup service through the years: the clock is ours, the Secrets are on a real API server."""

import base64
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from steward.certificates.worker_process import in_this_process
from steward.certificates.x509 import is_signed_by, read_certificate, split_bundle
from steward.kube.client.client import Client, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.objects.kinds import SECRET, Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.options import ApplyOptions, DeleteOptions
from steward.kube.objects.patches import MergePatch
from steward.local.control_plane import ControlPlane
from steward.multigres.api.backup import Backup
from steward.multigres.api.shard import ShardStatus
from steward.multigres.cache_rules import SHARD, Rules
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.status_contributions import RemarkCarrier
from steward.multigres.resolution.layers import given
from steward.multigres.views import ShardView
from steward.runtime.plan.executor import Effect, PlanResult, StepResult
from steward.runtime.plan.steps import Plan, Status
from steward.runtime.reconcile import RequeueAfter
from steward.testkit import FakeClock
from tests.support.kubectl import Kubectl

ONE_CA, ANOTHER_CA = (f"{name}\n-----END CERTIFICATE-----\n" for name in ("one", "another"))
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
    """Takes plans and keeps what they would report, where the next look finds it."""

    def __init__(self, shards: dict[Key, ShardView]) -> None:
        self._shards = shards
        self.conditions: list[Any] = []

    async def execute(self, plan: Plan, about: Ref) -> PlanResult:
        for step in plan:
            if isinstance(step, Status):
                self.conditions = step.status["conditions"]
                status = msgspec.convert(step.status, ShardStatus)
                self._shards[about.key] = msgspec.structs.replace(self._shards[about.key], status=status)
        return PlanResult([StepResult(step, Effect.UNCHANGED) for step in plan])


class Scene:
    """One shard, its certificate controller and the Secrets that it keeps."""

    def __init__(self, client: Client, shard: ShardView, clock: FakeClock | None = None) -> None:
        self.key = key_of(shard)
        self.namespace = self.key.namespace
        self.shards = shards = {self.key: shard}
        self.client, self.clock, self.told = client, clock or FakeClock(), Told(shards)
        context = SimpleNamespace(
            client=client,
            clock=self.clock,
            rules=Rules(""),
            store=lambda rule: shards,
            now=lambda: "2026-01-01T00:00:00Z",
        )
        told = cast(RemarkCarrier, self.told)
        self.reconciler = CertificateReconciler(cast(ControllerContext, context), told, in_this_process)

    async def look(self) -> float:
        """One reconcile; the seconds until the next."""
        result = await self.reconciler.reconcile(self.key)
        assert isinstance(result, RequeueAfter)
        return result.seconds

    @property
    def renewals(self) -> int:
        """How often the servers were to be replaced."""
        return given(self.shards[self.key].status.backup_certificate_renewals, 0)

    def brings(self, secret: str) -> None:
        """From now on the certificates are the user's."""
        shard = self.shards[self.key]
        backup = msgspec.convert({"type": "filesystem", "pgbackrestTLS": {"secretName": secret}}, Backup)
        spec = msgspec.structs.replace(shard.spec, backup=backup)
        self.shards[self.key] = msgspec.structs.replace(shard, spec=spec)

    async def write(self, name: str, **data: str) -> None:
        """A Secret of the user, with `_` for the dot in its keys."""
        metadata = {"name": name, "namespace": self.namespace}
        encoded = {
            key.replace("_", "."): base64.b64encode(each.encode()).decode() for key, each in data.items()
        }
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}
        await self.client.apply(secret, ApplyOptions(manager="user", force=True))

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


async def test_servers_learn_of_an_authority_before_they_show_its_certificate_and_need_not_forget_the_old(
    scene: Scene,
) -> None:
    await scene.look()
    first = await scene.data(LEAF)
    await scene.client.delete(Ref(SECRET, Key(scene.namespace, CA)), DeleteOptions())
    await scene.look()
    during = await scene.data(LEAF)
    assert (during["tls.crt"], len(split_bundle(during["ca.crt"]))) == (first["tls.crt"], 2)
    assert scene.renewals == 1
    scene.clock.advance(2 * HOUR)
    await scene.look()
    assert (await scene.data(LEAF))["tls.crt"] != first["tls.crt"]
    assert scene.renewals == 2
    scene.clock.advance(2 * HOUR)
    await scene.look()
    assert len(split_bundle((await scene.data(LEAF))["ca.crt"])) == 1
    assert scene.renewals == 2


async def test_servers_follow_what_a_user_rotates(scene: Scene) -> None:
    scene.brings("own-tls")
    await scene.look()
    [condition] = scene.told.conditions
    assert (condition["status"], condition["reason"]) == ("False", "CertificatesMissing")
    steps = [
        ({"ca_crt": ONE_CA, "tls_crt": "leaf"}, "False", 0),
        ({"ca_crt": ONE_CA, "tls_crt": "leaf", "tls_key": "key"}, "True", 0),
        ({"ca_crt": ONE_CA + ANOTHER_CA, "tls_crt": "leaf", "tls_key": "key"}, "True", 1),
        ({"ca_crt": ONE_CA + ANOTHER_CA, "tls_crt": "another leaf", "tls_key": "key"}, "True", 2),
        ({"ca_crt": ANOTHER_CA, "tls_crt": "another leaf", "tls_key": "key"}, "True", 2),
        ({"ca_crt": ANOTHER_CA, "tls_crt": "a third leaf", "tls_key": "key"}, "True", 3),
    ]
    for data, status, renewals in steps:
        await scene.write("own-tls", **data)
        await scene.look()
        [condition] = scene.told.conditions
        assert (condition["status"], scene.renewals) == (status, renewals), data


@pytest.mark.parametrize("name", [CA, LEAF])
async def test_a_deleted_secret_comes_back(scene: Scene, name: str) -> None:
    await scene.look()
    await scene.client.delete(Ref(SECRET, Key(scene.namespace, name)), DeleteOptions())
    await scene.look()
    assert await scene.data(name)


@pytest.mark.parametrize(
    ("name", "key"), [(CA, "ca.key"), (CA, "ca.crt"), (LEAF, "tls.crt"), (LEAF, "tls.key"), (LEAF, "ca.crt")]
)
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
