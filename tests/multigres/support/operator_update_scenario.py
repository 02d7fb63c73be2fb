"""Clusters of a previous release of the operator, whose pods the present one builds differently."""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from steward.local.kwok.pods import POD
from steward.multigres import reasons
from steward.multigres.objects.versions import FIRST, NEWEST
from tests.multigres.support.clusters import cluster
from tests.multigres.support.waiting import eventually
from tests.support.kubectl import Kubectl

CHILDREN = ("toposervers", "cells", "tablegroups", "shards")
IDLE = {"spec": {"replicas": 0}}
CONDITION = "OperatorUpdateAvailable"
NEWER_FLAG = "--buffer-enabled"
"""A flag that only gateways of the newest version have."""
WATCH_SECONDS = 0.1
"""A cluster moves for seconds."""


class OperatorUpdateScenario:
    """Each cluster has one gateway, one member of etcd and no server."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def create(self, name: str, **policy: str) -> None:
        shard = {"multiorch": {"replicas": 0}, "pools": {"main": {"replicasPerCell": 0}}}
        groups = [{"name": "default", "default": True, "shards": [{"name": "0-inf", "spec": shard}]}]
        spec = {
            "cells": [{"zone": "z1", "spec": {"multiGateway": {"replicas": 1}}}],
            "databases": [{"name": "postgres", "default": True, "tablegroups": groups}],
            "globalTopoServer": {"etcd": {"replicas": 1, "resources": {"requests": {"cpu": "10m"}}}},
            "multiadmin": IDLE,
            "multiadminWeb": IDLE,
            "updatePolicy": policy,
        }
        self.kubectl("apply", "-f", "-", document=cluster(self.namespace, name, **spec))

    def accept(self, name: str, revision: str) -> None:
        patch = f'{{"spec":{{"updatePolicy":{{"acceptedRevision":"{revision}"}}}}}}'
        self.kubectl("patch", "mgc", name, "-n", self.namespace, "--type=merge", "-p", patch)

    def set_first_version(self) -> None:
        """As a release without versions leaves the children: while no operator runs."""
        patch = '{"spec":{"objectsVersion":null}}'
        for kind in CHILDREN:
            for child in self._objects(kind):
                name = child["metadata"]["name"]
                self.kubectl("patch", kind, name, "-n", self.namespace, "--type=merge", "-p", patch)

    def _objects(self, kind: str) -> list[Any]:
        return list(self.kubectl.json("get", kind, "-n", self.namespace)["items"])

    def status(self, name: str) -> dict[str, Any]:
        return dict(self.kubectl.json("get", "mgc", name, "-n", self.namespace).get("status") or {})

    def condition(self, name: str, type_: str = CONDITION) -> dict[str, Any]:
        conditions = self.status(name).get("conditions", [])
        return next((dict(each) for each in conditions if each["type"] == type_), {})

    def reason(self, name: str) -> str:
        return str(self.condition(name).get("reason", ""))

    def annotations(self, name: str) -> dict[str, str]:
        meta = self.kubectl.json("get", "mgc", name, "-n", self.namespace)["metadata"]
        return dict(meta.get("annotations", {}))

    def versions(self, name: str) -> set[int]:
        """The versions that the children of a cluster name."""
        return self._all_versions().get(name, set())

    def _all_versions(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for child in [child for kind in CHILDREN for child in self._objects(kind)]:
            version = child["spec"].get("objectsVersion", FIRST)
            found.setdefault(child["metadata"]["labels"]["multigres.com/cluster"], set()).add(version)
        return found

    def has_newer_gateways(self, name: str) -> bool:
        selector = f"multigres.com/cluster={name},app.kubernetes.io/component=multigateway"
        found = self.kubectl.json("get", "deployments", "-n", self.namespace, "-l", selector)["items"]
        templates = [each["spec"]["template"]["spec"]["containers"][0] for each in found]
        return bool(templates) and all(NEWER_FLAG in container["args"] for container in templates)

    def is_ready(self, name: str) -> bool:
        return self.condition(name, "Ready").get("status") == "True"

    def is_updated(self, name: str) -> bool:
        return self.versions(name) == {NEWEST} and not self.reason(name) and self.is_ready(name)

    def moving(self) -> list[str]:
        """The clusters that occupy a slot at one moment, or have a child of the newest version without a slot.

        The children are read first: the condition is written before them.
        """
        versions = self._all_versions()
        reported = {each["metadata"]["name"]: _reason(each) for each in self._objects("mgc")}
        return sorted(
            name
            for name, reason in reported.items()
            if reason == reasons.OPERATOR_UPDATE_IN_PROGRESS or (reason and NEWEST in versions[name])
        )

    @contextmanager
    def at_most_one_moves(self) -> Iterator[None]:
        """Looks at the clusters again and again."""
        seen: list[list[str]] = []
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(WATCH_SECONDS):
                seen.append(self.moving())

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
        assert max(map(len, seen)) == 1, seen

    def wait_ready(self, *names: str) -> None:
        for name in names:
            eventually(lambda name=name: self.is_ready(name), f"{name} to be ready")

    def wait_for_reason(self, name: str, reason: str) -> dict[str, Any]:
        eventually(
            lambda: self.reason(name) == reason, f"{name} with {reason}", explain=lambda: self.reason(name)
        )
        return self.condition(name)

    def delete_gateway_pods(self, name: str) -> None:
        selector = f"multigres.com/cluster={name},app.kubernetes.io/component=multigateway"
        self.kubectl("delete", "pods", "-n", self.namespace, "-l", selector, "--wait=false")


def _reason(cluster: Any) -> str:
    conditions = (cluster.get("status") or {}).get("conditions", [])
    return next((str(each["reason"]) for each in conditions if each["type"] == CONDITION), "")


@contextmanager
def crashing_newer_gateways(kubectl: Kubectl, namespace: str) -> Iterator[None]:
    """Gateways of the newest version crash: the stages of the local control plane read an annotation of the pod."""
    name = f"bad-gateways-{secrets.token_hex(4)}"
    created = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
    newer = f"has(object.spec.containers[0].args) && '{NEWER_FLAG}' in object.spec.containers[0].args"
    expression = f"Object{{metadata: Object.metadata{{annotations: {{'{POD}': 'crash-loop'}}}}}}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [created]},
            "matchConditions": [
                {"name": "here", "expression": f"request.namespace == '{namespace}'"},
                {"name": "newer", "expression": newer},
            ],
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
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
    try:
        eventually(lambda: _is_marked(kubectl, namespace), "the policy to be active")
        yield
    finally:
        kubectl("delete", f"mutatingadmissionpolicy/{name}", f"mutatingadmissionpolicybinding/{name}")
    eventually(lambda: not _is_marked(kubectl, namespace), "the policy to be gone")


def _is_marked(kubectl: Kubectl, namespace: str) -> bool:
    container = {"name": "a", "image": "a", "args": [NEWER_FLAG]}
    tried = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "tried", "namespace": namespace},
        "spec": {"containers": [container]},
    }
    answer = kubectl.server.call("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", tried)
    assert answer.status < 300, answer.body
    return POD in answer.body.decode()
