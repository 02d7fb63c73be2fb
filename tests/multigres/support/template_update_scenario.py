"""A minimal cluster with two templates, for tests of template updates."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.kubectl import Kubectl
from tests.support.waiting import poll

API_VERSION = "multigres.com/v1alpha1"
LIMIT_SECONDS = 240.0
AVAILABLE = "TemplateUpdateAvailable"


def eventually(check: Callable[[], Any], what: str) -> Any:
    """Waits until `check` returns a true value. The limit is generous: it only ends tests of a broken operator."""
    if found := poll(check, LIMIT_SECONDS):
        return found
    pytest.fail(f"timed out after {LIMIT_SECONDS:.0f} s: {what}")


class TemplateUpdateScenario:
    """Gateways are defined by a CellTemplate `gate`, pools by a ShardTemplate `std`. The number of replicas shows which
    content of the template is active in the Cell."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self.kubectl = kubectl
        self.namespace = namespace

    def apply(self, kind: str, name: str, spec: dict[str, Any]) -> None:
        manifest = {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": spec,
        }
        self.kubectl("apply", "--server-side", "--field-manager=user", "-f", "-", document=manifest)

    def set_gateways(self, replicas: int, template: str = "gate") -> None:
        self.apply("CellTemplate", template, {"multiGateway": {"replicas": replicas}})

    def create(self, policy: dict[str, Any], **spec: Any) -> None:
        """Creates the templates and a cluster without pods: only specs are tested here."""
        self.set_gateways(0)
        self.apply(
            "ShardTemplate", "std", {"multiorch": {"replicas": 0}, "pools": {"main": {"replicasPerCell": 0}}}
        )
        self.cluster(policy, **spec)

    def cluster(self, policy: dict[str, Any], **spec: Any) -> None:
        idle = {"spec": {"replicas": 0}}
        etcd = {"etcd": {"replicas": 1, "resources": {"requests": {"cpu": "10m"}}}}
        base = {
            "cells": [{"zone": "z1"}],
            "templateDefaults": {"cellTemplate": "gate", "shardTemplate": "std"},
            "globalTopoServer": etcd,
            "multiadmin": idle,
            "multiadminWeb": idle,
            "updatePolicy": policy,
        }
        self.apply("MultigresCluster", "demo", {**base, **spec})

    def get_object(self, kind: str, name: str) -> Any:
        listed = self.kubectl.json(
            "get", kind, "-n", self.namespace, "--field-selector", f"metadata.name={name}"
        )
        return listed["items"][0] if listed["items"] else None

    def status(self) -> dict[str, Any]:
        cluster = self.get_object("mgc", "demo")
        return {} if cluster is None else dict(cluster.get("status", {}))

    def condition(self) -> dict[str, Any]:
        conditions = {each["type"]: each for each in self.status().get("conditions", [])}
        return dict(conditions.get(AVAILABLE, {}))

    def gateway_replicas(self) -> list[int]:
        """Gateway replicas in the spec of each Cell."""
        cells = self.kubectl.json("get", "cells", "-n", self.namespace)["items"]
        return [cell["spec"]["multiGateway"]["replicas"] for cell in cells]

    def revisions(self, template: str = "gate") -> list[Any]:
        """Stored revisions, oldest first."""
        selector = f"multigres.com/template={template}"
        listed = self.kubectl.json("get", "controllerrevisions", "-n", self.namespace, "-l", selector)
        return sorted(listed["items"], key=lambda item: item["revision"])

    def annotate(self, *words: str) -> None:
        self.kubectl("annotate", "mgc", "demo", "-n", self.namespace, "--overwrite", *words)

    def annotations(self) -> dict[str, str]:
        return self.get_object("mgc", "demo")["metadata"].get("annotations", {})  # type: ignore[no-any-return]

    def finalizers(self, kind: str, name: str) -> list[str]:
        return self.get_object(kind, name)["metadata"].get("finalizers", [])  # type: ignore[no-any-return]

    def wait_for_finalizers(self, kind: str, name: str, *desired: str) -> None:
        eventually(lambda: self.finalizers(kind, name) == list(desired), f"{kind} {name} with {desired}")

    def namespace_exists(self) -> bool:
        selected = f"metadata.name={self.namespace}"
        return bool(self.kubectl.json("get", "namespaces", "--field-selector", selected)["items"])

    def wait_for_gateways(self, *replicas: int) -> None:
        eventually(lambda: self.gateway_replicas() == list(replicas), f"cells with {replicas} gateways")

    def wait_for_generation(self, generation: int, template: str = "CellTemplate/gate") -> None:
        def applied() -> bool:
            found = self.status().get("appliedTemplateGenerations", {})
            return bool(found.get(template) == generation)

        eventually(applied, f"generation {generation} of {template} to be active")

    def wait_for_pending(self) -> dict[str, Any]:
        eventually(lambda: self.condition().get("status") == "True", "the update to be pending")
        return self.condition()

    def wait_until_processed(self) -> None:
        eventually(
            lambda: not any("template-update" in name for name in self.annotations()),
            "all requests to be processed",
        )
        eventually(lambda: self.condition().get("status") == "False", "nothing to be pending")
