"""Restarts the Deployments of a component as `kubectl rollout restart` does: Kubernetes replaces their pods one by one.

The operator does not own the annotation of the pod template, and leaves it alone. The decisions are pure.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from steward.cli.operations.outcome import FIELD_MANAGER, POLL_SECONDS, Report, RequestError
from steward.kube.client.client import Client
from steward.kube.objects.kinds import DEPLOYMENT, Key, Manifest, Ref
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch
from steward.multigres.objects import gateway, multiadmin, orchestrator
from steward.multigres.objects.metadata import CLUSTER_LABEL, COMPONENT_LABEL

COMPONENTS = (
    gateway.COMPONENT,
    orchestrator.COMPONENT,
    multiadmin.COMPONENT,
    multiadmin.WEB_COMPONENT,
)
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"


async def read_deployments(client: Client, cluster: Key, component: str) -> list[Manifest]:
    selector = f"{CLUSTER_LABEL}={cluster.name},{COMPONENT_LABEL}={component}"
    query = ListQuery(namespace=cluster.namespace, label_selector=selector)
    found = list((await client.list(DEPLOYMENT, query)).items)
    if not found:
        raise RequestError(f"MultigresCluster {cluster} has no Deployment of {component}")
    return found


async def restart_deployments(client: Client, deployments: Sequence[Manifest], value: str) -> None:
    patch = MergePatch({"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: value}}}}})
    for each in deployments:
        await client.patch(_ref(each), patch, manager=FIELD_MANAGER)


def _ref(deployment: Manifest) -> Ref:
    meta = deployment["metadata"]
    return Ref(DEPLOYMENT, Key(meta["namespace"], meta["name"]))


def is_rolled_out(deployment: Manifest) -> bool:
    """Whether every pod is of the newest template and available, and no older one is left."""
    status, wanted = deployment.get("status") or {}, int(deployment["spec"].get("replicas", 1))
    counts = (status.get(name) or 0 for name in ("replicas", "updatedReplicas", "availableReplicas"))
    is_observed = int(status.get("observedGeneration") or 0) >= int(deployment["metadata"]["generation"])
    return is_observed and all(count == wanted for count in counts)


async def wait_for_rollout(
    client: Client, deployments: Sequence[Manifest], seconds: float, report: Report
) -> None:
    loop, done = asyncio.get_running_loop(), set[Ref]()
    deadline = loop.time() + seconds
    refs = [_ref(each) for each in deployments]
    while True:
        for ref in refs:
            if ref not in done and is_rolled_out(await client.get(ref.kind, ref.key)):
                done.add(ref)
                report(f"{ref}: restarted")
        if len(done) == len(refs):
            return
        if loop.time() >= deadline:
            missing = ", ".join(str(ref) for ref in refs if ref not in done)
            raise RequestError(f"after {seconds:g} s these have not restarted: {missing}")
        await asyncio.sleep(POLL_SECONDS)
