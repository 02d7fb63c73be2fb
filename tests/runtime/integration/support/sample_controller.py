"""A complete controller: a Greeting becomes a ConfigMap and a Deployment and reports readiness; deletion is ordered."""

import os
import sys
from typing import Any

from msgspec import Struct

from steward.kube.cache.rules import CacheRule
from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, Key, Kind, Ref
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.patches import MergePatch
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.run import Operator, run_operators
from steward.runtime.manager.settings import Settings, settings_from
from steward.runtime.plan.steps import Apply, Delete, Emit, Patch, Plan, Status
from steward.runtime.reconcile import DONE, Result

NAME = "greeting-controller"
FINALIZER = "sample.steward.dev/farewell"
GREETING = Kind(os.environ.get("GREETING_GROUP", "sample.steward.dev") + "/v1", "Greeting")


class Spec(Struct, frozen=True):
    message: str = ""
    replicas: int = 1


class State(Struct, frozen=True, rename="camel"):
    ready_replicas: int = 0
    ready: bool = False


class Greeting(Struct, frozen=True):
    metadata: ObjectMeta
    spec: Spec
    status: State = State()


class Workload(Struct, frozen=True):
    metadata: ObjectMeta
    status: State = State()


class GreetingReconciler:
    def __init__(self, manager: Manager, settings: Settings) -> None:
        where = dict.fromkeys(settings.namespaces or ("*",), "")
        greetings = CacheRule(GREETING, Greeting, where, owned_by=NAME)
        config_maps = CacheRule(CONFIG_MAP, Metadata, where, owned_by=NAME)
        deployments = CacheRule(DEPLOYMENT, Workload, where, owned_by=NAME)
        self.greetings = manager.store(greetings)
        self.deployments = manager.store(deployments)
        self.executor = manager.executor(NAME)
        manager.add(
            Controller("greeting", self, (For(greetings), Owns(config_maps), Owns(deployments)), workers=4)
        )

    async def reconcile(self, key: Key) -> Result:
        greeting, workload = self.greetings.get(key), self.deployments.get(key)
        if greeting is None:
            return DONE
        is_terminating = greeting.metadata.deletion_timestamp is not None
        plan = deletion_plan(greeting, workload) if is_terminating else apply_plan(greeting, workload)
        return (await self.executor.execute(plan, Ref(GREETING, key))).result


def apply_plan(greeting: Greeting, workload: Workload | None) -> Plan:
    meta, spec = greeting.metadata, greeting.spec
    ready = workload is not None and workload.status.ready_replicas >= spec.replicas
    status = {"ready": ready, "readyReplicas": workload.status.ready_replicas if workload else 0}
    became_ready = (
        (Emit(ref(meta), "Ready", f"{spec.replicas} greet"),) if ready > greeting.status.ready else ()
    )
    # The finalizer is set before the objects that it has to clean up.
    add_finalizer = () if FINALIZER in meta.finalizers else (finalizers(meta, (*meta.finalizers, FINALIZER)),)
    config_map = child(meta, CONFIG_MAP, data={"message": spec.message})
    deployment = child(meta, DEPLOYMENT, spec=pods(meta.name, spec.replicas))
    return (*add_finalizer, Apply(config_map), Apply(deployment), *became_ready, Status(ref(meta), status))


def deletion_plan(greeting: Greeting, workload: Workload | None) -> Plan:
    meta = greeting.metadata
    if workload is not None:
        return (
            Delete(Ref(DEPLOYMENT, ref(meta).key), workload.metadata.uid, "its Greeting is being deleted"),
        )
    return (finalizers(meta, tuple(name for name in meta.finalizers if name != FINALIZER)),)


def ref(meta: ObjectMeta) -> Ref:
    return Ref(GREETING, Key(meta.namespace, meta.name))


def finalizers(meta: ObjectMeta, names: tuple[str, ...]) -> Patch:
    return Patch(ref(meta), MergePatch.metadata_at_version(meta.resource_version, finalizers=list(names)))


def child(meta: ObjectMeta, kind: Kind, **content: Any) -> dict[str, Any]:
    owner = {"apiVersion": GREETING.api_version, "kind": GREETING.kind, "name": meta.name, "uid": meta.uid}
    metadata = {
        "name": meta.name,
        "namespace": meta.namespace,
        "ownerReferences": [owner | {"controller": True}],
    }
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **content}


def pods(name: str, replicas: int) -> dict[str, Any]:
    labels = {"greeting": name}
    containers = [{"name": "greeter", "image": "greeter", "env": [{"name": "WHO", "value": name}]}]
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}


if __name__ == "__main__":
    sys.exit(run_operators([Operator(NAME, GreetingReconciler)], settings_from(os.environ)))
