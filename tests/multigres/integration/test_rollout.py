"""Pods of running shards are replaced and taken away one at a time, with the data plane's stand-in saying who leads.

Each test has a cluster of its own; one operator and one stand-in look after all of them.
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.local.kwok.pods import POD
from steward.multigres import names
from steward.testkit import AuditLog
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_operator import cluster, eventually
from tests.multigres.integration.test_topology import World, run, running_stand_in
from tests.support.kubectl import Kubectl

NO_ADMIN = {"spec": {"replicas": 0}}
TWO_POOLS = {
    "main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]},
    "side": {"type": "readWrite", "replicasPerCell": 1, "cells": ["z2"]},
}
GOOD, BETTER, BAD = "example.com/pgctld:1", "example.com/pgctld:2", "example.com/pgctld:bad"


class Subject(World):
    """One cluster whose pods come and go."""

    def run_on(self, image: str, pools: dict[str, Any]) -> None:
        cells = [{"zone": zone} for zone in ("z1", "z2")]
        shards = [{"name": "0-inf", "spec": {"pools": pools}}]
        groups = [{"name": "default", "default": True, "shards": shards}]
        spec = {
            "cells": cells,
            "images": {"postgres": image},
            "databases": [{"name": "postgres", "default": True, "tablegroups": groups}],
            "globalTopoServer": {"etcd": {"replicas": 1}},
            "multiadmin": NO_ADMIN,
            "multiadminWeb": NO_ADMIN,
        }
        self.clusters.apply(cluster(self.namespace, self.name, **spec))

    @property
    def shard(self) -> Any:
        return self.clusters.get(
            "shard", names.shard(names.ShardPath(self.name, "postgres", "default", "0-inf"))
        )

    def told(self, type_: str) -> Any:
        conditions = ((self.shard or {}).get("status") or {}).get("conditions", [])
        return next((c for c in conditions if c["type"] == type_), None)

    def wait_told(self, type_: str, reason: str) -> Any:
        return eventually(
            lambda: (found := self.told(type_)) and found["reason"] == reason and found, f"{type_} {reason}"
        )

    def servers(self) -> dict[str, Any]:
        label = f"multigres.com/cluster={self.name},app.kubernetes.io/component=shard-pool"
        found = self.kubectl.json("get", "pod", "-n", self.namespace, "-l", label)["items"]
        return {pod["metadata"]["name"]: pod for pod in found}

    def images(self) -> list[str]:
        return sorted(pod["spec"]["initContainers"][0]["image"] for pod in self.servers().values())

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.servers().items()}

    def primary(self) -> str:
        leading = [pooler for pooler in self.poolers() if pooler.is_primary and pooler.lifecycle == 2]
        return leading[0].name if len(leading) == 1 else ""

    def give(self, period: str) -> None:
        """So much time to whatever is to end."""
        period = f"multigres.com/graceful-shutdown-period={period}"
        self.kubectl("annotate", "--overwrite", "mgc", self.name, "-n", self.namespace, period)

    def wait_settled(self, image: str, servers: int) -> None:
        eventually(lambda: self.images() == [image] * servers, f"every pod of {self.name} to run {image}")
        self.wait_told("RollingUpdate", "PodsUpToDate")
        generation = self.clusters.get("mgc", self.name)["metadata"]["generation"]
        eventually(lambda: self._is_ready(generation), f"{self.name} to be ready")

    def _is_ready(self, generation: int) -> bool:
        status = self.clusters.get("mgc", self.name).get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready"]
        return status.get("observedGeneration") == generation and bool(ready) and ready[0]["status"] == "True"

    def wait_primary(self) -> str:
        eventually(self.primary, f"a primary of {self.name}")
        return self.primary()


@pytest.fixture(scope="module")
def forwards(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("data-plane")
    with (
        running_stand_in(control_plane, long_namespace, directory) as found,
        running_operator(control_plane, long_namespace, directory / "operator.log", connect_to=f"@{found}"),
    ):
        yield found


def subject(kubectl: Kubectl, namespace: str, forwards: Path, name: str, pools: dict[str, Any]) -> Subject:
    """A cluster that is ready and has a primary."""
    made = Subject(kubectl, namespace, forwards, name)
    made.run_on(GOOD, pools)
    made.wait_settled(GOOD, sum(pool["replicasPerCell"] for pool in pools.values()))
    made.wait_primary()
    return made


def test_a_new_image_replaces_pods_by_eviction_one_at_a_time_and_the_primary_last(
    control_plane: ControlPlane, kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    rolled = subject(kubectl, long_namespace, forwards, "rolled", TWO_POOLS)
    primary, before = rolled.primary(), rolled.uids()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    rolled.run_on(BETTER, TWO_POOLS)
    rolled.wait_settled(BETTER, 3)
    calls = run(audit.calls_since(mark))
    evicted = [
        each.call.name
        for each in calls.writes_of("multigres-operator")
        if each.call.subresource == "eviction" and each.call.namespace == rolled.namespace and each.code < 300
    ]
    assert sorted(evicted) == sorted(before)
    assert evicted[-1] == primary
    assert not set(rolled.uids().values()) & set(before.values())


@pytest.fixture
def bad_image(kubectl: Kubectl, long_namespace: str) -> Iterator[None]:
    """Pods of the bad image crash: the stages of the local control plane read an annotation, and a policy sets it."""
    name = f"bad-image-{secrets.token_hex(4)}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "resources": ["pods"],
                        "operations": ["CREATE"],
                    }
                ]
            },
            "matchConditions": [
                {"name": "here", "expression": f"request.namespace == '{long_namespace}'"},
                {
                    "name": "bad",
                    "expression": "has(object.spec.initContainers) && "
                    f"object.spec.initContainers.exists(c, c.image == '{BAD}')",
                },
            ],
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {
                        "expression": "Object{metadata: Object.metadata{annotations: "
                        f"{{'{POD}': 'crash-loop'}}}}}}"
                    },
                }
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    kubectl("create", "-f", "-", document={"apiVersion": "v1", "kind": "List", "items": [policy, binding]})
    eventually(lambda: _is_marked(kubectl, long_namespace), "the policy to be in force")
    yield
    kubectl("delete", f"mutatingadmissionpolicy/{name}", f"mutatingadmissionpolicybinding/{name}")


def _is_marked(kubectl: Kubectl, namespace: str) -> bool:
    tried = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tried", "namespace": namespace},
        "spec": {
            "initContainers": [{"name": "a", "image": BAD}],
            "containers": [{"name": "b", "image": "b"}],
        },
    }
    made = kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", document=tried)
    return POD in made


def test_a_bad_image_stops_at_the_first_pod_and_a_better_one_repairs_it(
    kubectl: Kubectl, long_namespace: str, forwards: Path, bad_image: None
) -> None:
    stopped = subject(kubectl, long_namespace, forwards, "stopped", TWO_POOLS)
    primary = stopped.primary()
    stopped.run_on(BAD, TWO_POOLS)
    told = stopped.wait_told("RollingUpdate", "RolloutStopped")
    assert "CrashLoopBackOff" in told["message"]
    assert stopped.images() == [GOOD, GOOD, BAD]
    assert stopped.servers()[primary]["spec"]["initContainers"][0]["image"] == GOOD
    eventually(lambda: stopped.told("Degraded")["status"] == "True", "the Shard to be degraded")
    stopped.run_on(BETTER, TWO_POOLS)
    stopped.wait_settled(BETTER, 3)
    assert stopped.told("Degraded")["status"] == "False"


def test_while_nobody_knows_the_primary_no_pod_goes(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    unknown = subject(kubectl, long_namespace, forwards, "unknown", TWO_POOLS)
    before = unknown.uids()
    unknown.misbehave("no-primary")
    unknown.wait_primary_cell("")
    unknown.run_on(BETTER, TWO_POOLS)
    unknown.wait_told("RollingUpdate", "PrimaryUnknown")
    assert unknown.uids() == before
    unknown.behave()
    unknown.wait_settled(BETTER, 3)


def test_scaling_down_waits_until_the_highest_pod_no_longer_leads(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {"main": {"type": "readWrite", "replicasPerCell": 2, "cells": ["z1"]}}
    smaller = subject(kubectl, long_namespace, forwards, "smaller", pools)
    lowest, highest = sorted(smaller.servers())
    if smaller.primary() != highest:
        kubectl("delete", "pod", lowest, "-n", long_namespace)
    eventually(lambda: smaller.primary() == highest, "the highest pod to lead")
    smaller.wait_settled(GOOD, 2)
    fewer = {"main": {**pools["main"], "replicasPerCell": 1}}
    smaller.run_on(GOOD, fewer)
    told = smaller.wait_told("ScaleDownPending", "PrimaryWouldGo")
    assert f"{highest} is the primary" in told["message"]
    assert sorted(smaller.servers()) == [lowest, highest]
    kubectl("delete", "pod", highest, "-n", long_namespace)
    eventually(lambda: sorted(smaller.servers()) == [lowest], "the pod to go once another leads")
    smaller.wait_settled(GOOD, 1)
    assert smaller.told("ScaleDownPending") is None


def test_a_pool_that_leaves_the_spec_gives_its_primary_time_to_be_switched_and_then_another_one_leads(
    kubectl: Kubectl, long_namespace: str, forwards: Path
) -> None:
    pools = {name: {**TWO_POOLS[name], "replicasPerCell": 1} for name in TWO_POOLS}
    parting = subject(kubectl, long_namespace, forwards, "parting", pools)
    primary = parting.primary()
    leaving, staying = sorted(pools, key=lambda name: f"-pool-{name}-" not in primary)
    parting.give("300s")  # longer than anybody here waits for anything: it goes when the test says so
    parting.run_on(GOOD, {staying: pools[staying]})
    told = parting.wait_told("ScaleDownPending", "PrimaryWouldGo")
    assert f"{primary} is the primary" in told["message"]
    assert primary in parting.servers()
    parting.give("1s")
    eventually(
        lambda: all(f"-pool-{staying}-" in name for name in parting.servers()), f"pool {leaving} to go"
    )
    parting.wait_settled(GOOD, 1)
    assert f"-pool-{staying}-" in parting.wait_primary()
    assert parting.told("ScaleDownPending") is None
