"""Rare situations for every kind that a cluster consists of, so that every permission on them is used.

A user removes a label of every object, and the API server rejects the repairing write as invalid once. A list with one
name twice causes that, and the repair needs the live object: the operator gets it before it retries. Then there are
objects that are no longer desired, and a set whose selector does not match its pods.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import MULTIGRES
from steward.local.control_plane import ControlPlane
from steward.multigres.api.group import API_VERSION
from steward.testkit import Answer, FaultProxy, Match, Rule
from tests.multigres.support.clusters import small_cluster
from tests.multigres.support.idle_clusters import NO_WEB
from tests.multigres.support.tree import NAME, build_tree
from tests.support import data_planes
from tests.support.identities import operator_kubeconfig, operator_token
from tests.support.kubectl import Kubectl
from tests.support.operator_process import OperatorProcess, run_operator_process_async

LIMIT_SECONDS = 240.0
LABEL = "app.kubernetes.io/component"
REVISIONS = "controllerrevisions"
MORE, LEFT = ("configmaps", "poddisruptionbudgets"), "left-over"
SET, SELECTED = f"{NAME}-global-topo", "app.kubernetes.io/instance"
SPEC: dict[str, Any] = {
    **small_cluster("", NAME)["spec"],
    **NO_WEB,
    "backup": {"type": "filesystem", "filesystem": {"path": "/backups", "storage": {"size": "1Gi"}}},
}
# Made once and never written again: it holds a password.
LEFT_ALONE = f"{NAME}-postgres-password"


@pytest.fixture
async def proxy(control_plane: ControlPlane) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(control_plane.kubeconfig) as found:
        yield found


async def test_every_kind_is_watched_repaired_and_deleted(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, proxy: FaultProxy, tmp_path: Path
) -> None:
    await asyncio.to_thread(operator_kubeconfig, MULTIGRES, control_plane)
    token = await asyncio.to_thread(operator_token, MULTIGRES, kubectl)
    config = proxy.write_kubeconfig(tmp_path / "kubeconfig", token)
    _reject_once(proxy, REVISIONS)
    scenario = _Scenario(kubectl, namespace)
    await asyncio.to_thread(scenario.begin)

    connect_to = await asyncio.to_thread(data_planes.connect_to, control_plane)
    operator = OperatorProcess("multigres", config, namespace, tmp_path / "log")
    async with run_operator_process_async(operator, connect_to=connect_to):
        await _wait_until(scenario.is_healthy, "the cluster to be healthy")
        for resource in scenario.marked:
            _reject_once(proxy, resource)
        await asyncio.to_thread(scenario.take_labels)
        await _wait_until(scenario.has_all_labels, "every label to be back")
        await asyncio.to_thread(scenario.leave_more)
        await _wait_until(scenario.has_no_more, "undesired objects to be deleted")
        await asyncio.to_thread(scenario.leave_pod_behind)
        await _wait_until(scenario.has_found_pod, "a new set to have found its pod")

    assert _resources_read(proxy) >= {*scenario.marked, REVISIONS}


class _Scenario:
    """A cluster, and one object of each kind that grows out of it."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl = kubectl
        self._where = ("-n", namespace)
        tree = [each for each in build_tree(namespace, **SPEC) if each["metadata"]["name"] != LEFT_ALONE]
        self.marked = {f"{each['kind'].lower()}s": each["metadata"] for each in tree}

    def begin(self) -> None:
        self._apply("CoreTemplate", "plain", {})
        self._apply("MultigresCluster", NAME, {**SPEC, "templateDefaults": {"coreTemplate": "plain"}})

    def _apply(self, kind: str, name: str, spec: dict[str, Any]) -> None:
        manifest = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        how = ("--server-side", "--field-manager=user", "-f", "-")
        self._kubectl("apply", *self._where, *how, document=manifest)

    def is_healthy(self) -> bool:
        found = self._kubectl.json("get", "mgc", *self._where)["items"]
        return [(each.get("status") or {}).get("phase") for each in found] == ["Healthy"]

    def take_labels(self) -> None:
        for resource, metadata in self.marked.items():
            self._kubectl("label", resource, metadata["name"], "--overwrite", f"{LABEL}=taken", *self._where)

    def has_all_labels(self) -> bool:
        return all(
            self._label(resource, metadata["name"]) == metadata["labels"][LABEL]
            for resource, metadata in self.marked.items()
        )

    def leave_more(self) -> None:
        """Like an operator of another version: managed objects under names that this version does not use."""
        for resource in MORE:
            found = self._get(resource, self.marked[resource]["name"])
            kept = {name: found["metadata"][name] for name in ("labels", "ownerReferences")}
            self._kubectl(
                "create", *self._where, "-f", "-", document={**found, "metadata": {"name": LEFT, **kept}}
            )

    def has_no_more(self) -> bool:
        return not any(self._get(resource, LEFT) for resource in MORE)

    def leave_pod_behind(self) -> None:
        """The pod first: the recreated set must find it changed."""
        self._kubectl("label", "pod", f"{SET}-0", "--overwrite", f"{SELECTED}=another", *self._where)
        self._kubectl("delete", "statefulset", SET, "--cascade=orphan", *self._where)

    def has_found_pod(self) -> bool:
        pod = self._get("pods", f"{SET}-0")
        return bool(pod and self._get("statefulsets", SET)) and pod["metadata"]["labels"][SELECTED] == NAME

    def _label(self, resource: str, name: str) -> str:
        return str(self._get(resource, name)["metadata"]["labels"][LABEL])

    def _get(self, resource: str, name: str) -> Any:
        found = self._kubectl.json("get", resource, *self._where, "--field-selector", f"metadata.name={name}")
        return found["items"][0] if found["items"] else None


def _reject_once(proxy: FaultProxy, resource: str) -> None:
    match = Match(verb="patch", resource=resource, subresource="")
    proxy.add(Rule(match, Answer(422, message="spec.ports: Duplicate value"), count=1))


def _resources_read(proxy: FaultProxy) -> set[str]:
    return {item.call.resource for item in proxy.calls(Match(verb="get"))}


async def _wait_until(look: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            while not await asyncio.to_thread(look):
                await asyncio.sleep(0.1)
    except TimeoutError:
        pytest.fail(f"waited {LIMIT_SECONDS:.0f} s in vain for {what}")
