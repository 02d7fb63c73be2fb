"""Reviews of evictions: a primary that another server can replace stays for the moment of a switch."""

import json
from typing import Any, cast

import pytest

from steward.admission.review import Allowed, Denied, Operation, Review
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres import names
from steward.multigres.cache_rules import MultigresCacheRules
from steward.multigres.eviction_webhook import EvictionWebhook
from steward.multigres.names import ShardPath
from steward.multigres.rollout.node_drain import SWITCH_FROM
from steward.multigres.rollout.restarts import FORCE_ROLLOUT

PATH = ShardPath("shop", "postgres", "default", "0-inf")
SHARD = names.shard(PATH)
LABELS = {
    "app.kubernetes.io/managed-by": "multigres-operator",
    "app.kubernetes.io/component": "shard-pool",
    "multigres.com/cluster": "shop",
    "multigres.com/database": "postgres",
    "multigres.com/tablegroup": "default",
    "multigres.com/shard": "0-inf",
}


class Patches:
    """A client that records patches."""

    def __init__(self) -> None:
        self.sent: list[tuple[Ref, Any]] = []

    async def patch(self, ref: Ref, patch: MergePatch) -> None:
        self.sent.append((ref, patch.changes))


class Evictions:
    """A webhook and the objects that it knows."""

    def __init__(self) -> None:
        rules = MultigresCacheRules("")
        self.client = Patches()
        self.pods, self.shards, self.clusters = Store(rules.pod), Store(rules.shard), Store(rules.cluster)
        self.webhook = EvictionWebhook(cast(Client, self.client), self.pods, self.shards, self.clusters)

    def add_pod(self, name: str, labels: dict[str, str] = LABELS) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1", "labels": labels}
        self._add(self.pods, "v1", "Pod", metadata)

    def add_shard(self, *servers: tuple[str, str], annotations: Any = None, rolling: str = "False") -> None:
        metadata = {
            "name": SHARD,
            "namespace": "ns",
            "uid": "u",
            "resourceVersion": "1",
            "labels": {"multigres.com/cluster": "shop"},
            "annotations": annotations or {},
        }
        since = "2026-01-01T00:00:00Z"
        status = {
            "servers": [
                {"pod": pod, "role": role, "state": "Ready", "since": since} for pod, role in servers
            ],
            "conditions": [
                {
                    "type": "RollingUpdate",
                    "status": rolling,
                    "reason": "R",
                    "message": "",
                    "lastTransitionTime": since,
                }
            ],
        }
        spec = {"shardName": "0-inf"}
        self._add(self.shards, "multigres.com/v1alpha1", "Shard", metadata, spec=spec, status=status)

    def _add(self, store: Store[Any], version: str, kind: str, metadata: Any, **fields: Any) -> None:
        manifest = {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
        store.observe_write(json.dumps(manifest).encode())

    async def evict(self, name: str, **fields: Any) -> Allowed | Denied:
        review = Review("1", Operation.CREATE, subresource="eviction", name=name, namespace="ns", **fields)
        return await self.webhook.review(review)


@pytest.fixture
def evictions() -> Evictions:
    found = Evictions()
    for name in ("a-0", "a-1"):
        found.add_pod(name)
    return found


BOTH = (("a-0", "Primary"), ("a-1", "Standby"))


async def test_the_eviction_of_a_primary_is_denied_as_too_many_requests_and_a_switch_requested(
    evictions: Evictions,
) -> None:
    evictions.add_shard(*BOTH)
    response = await evictions.evict("a-0")
    assert isinstance(response, Denied)
    assert (response.code, response.reason) == (429, "TooManyRequests")
    assert FORCE_ROLLOUT in response.message
    [(ref, changes)] = evictions.client.sent
    assert ref.key == Key("ns", SHARD)
    assert changes == {"metadata": {"uid": "u", "annotations": {SWITCH_FROM: "a-0"}}}


async def test_a_dry_run_requests_no_switch(evictions: Evictions) -> None:
    evictions.add_shard(*BOTH)
    assert isinstance(await evictions.evict("a-0", dry_run=True), Denied)
    assert evictions.client.sent == []


async def test_a_repeated_eviction_writes_nothing_again(evictions: Evictions) -> None:
    evictions.add_shard(*BOTH, annotations={SWITCH_FROM: "a-0"})
    assert isinstance(await evictions.evict("a-0"), Denied)
    assert evictions.client.sent == []


async def test_a_standby_is_evicted(evictions: Evictions) -> None:
    evictions.add_shard(*BOTH)
    assert await evictions.evict("a-1") == Allowed()


async def test_the_annotation_evicts_a_primary_at_once(evictions: Evictions) -> None:
    evictions.add_shard(*BOTH, annotations={FORCE_ROLLOUT: "true"})
    assert await evictions.evict("a-0") == Allowed()


@pytest.mark.parametrize("name", ["etcd-0", "unknown-0"])
async def test_a_pod_of_another_component_is_evicted(evictions: Evictions, name: str) -> None:
    evictions.add_pod("etcd-0", {**LABELS, "app.kubernetes.io/component": "toposerver"})
    evictions.add_shard(("etcd-0", "Primary"), BOTH[1])
    assert await evictions.evict(name) == Allowed()


async def test_the_only_server_is_evicted_with_a_warning_and_an_event(evictions: Evictions) -> None:
    evictions.add_shard(BOTH[0])
    response = await evictions.evict("a-0")
    assert isinstance(response, Allowed)
    assert "the only server of its shard" in response.warnings[0]
    assert len(evictions.client.sent) == 1


async def test_the_operator_announces_its_own_restart_of_an_only_server_itself(evictions: Evictions) -> None:
    evictions.add_shard(BOTH[0], rolling="True")
    assert await evictions.evict("a-0") == Allowed()
    assert evictions.client.sent == []
