"""A cluster on two templates, as small as it can be, and what the tests of template updates do with it."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.kubectl import Kubectl

API_VERSION = "multigres.com/v1alpha1"
LIMIT_SECONDS = 240.0
AVAILABLE = "TemplateUpdateAvailable"


def eventually(look: Callable[[], Any], what: str) -> Any:
    """Waits for a condition; the limit is for a broken operator, not for a slow machine."""
    deadline = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.1)
    pytest.fail(f"waited {LIMIT_SECONDS:.0f} s in vain for {what}")


class Story:
    """Gateways come from a CellTemplate `gate`, pools from a ShardTemplate `std`. The template's replicas tell which
    of its contents has reached the Cell."""

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

    def gateways(self, replicas: int, template: str = "gate") -> None:
        self.apply("CellTemplate", template, {"multiGateway": {"replicas": replicas}})

    def begin(self, policy: dict[str, Any], **spec: Any) -> None:
        """Templates and a cluster in which nothing runs: what matters here is what is asked for."""
        self.gateways(0)
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

    def found(self, kind: str, name: str) -> Any:
        listed = self.kubectl.json(
            "get", kind, "-n", self.namespace, "--field-selector", f"metadata.name={name}"
        )
        return listed["items"][0] if listed["items"] else None

    def status(self) -> dict[str, Any]:
        seen = self.found("mgc", "demo")
        return {} if seen is None else dict(seen.get("status", {}))

    def condition(self) -> dict[str, Any]:
        known = {each["type"]: each for each in self.status().get("conditions", [])}
        return dict(known.get(AVAILABLE, {}))

    def asked_gateways(self) -> list[int]:
        """How many gateways each Cell asks for."""
        cells = self.kubectl.json("get", "cells", "-n", self.namespace)["items"]
        return [cell["spec"]["multiGateway"]["replicas"] for cell in cells]

    def revisions(self, template: str = "gate") -> list[Any]:
        """The contents that were in force, oldest first."""
        selector = f"multigres.com/template={template}"
        listed = self.kubectl.json("get", "controllerrevisions", "-n", self.namespace, "-l", selector)
        return sorted(listed["items"], key=lambda item: item["revision"])

    def annotate(self, *words: str) -> None:
        self.kubectl("annotate", "mgc", "demo", "-n", self.namespace, "--overwrite", *words)

    def annotations(self) -> dict[str, str]:
        return self.found("mgc", "demo")["metadata"].get("annotations", {})  # type: ignore[no-any-return]

    def finalizers(self, kind: str, name: str) -> list[str]:
        return self.found(kind, name)["metadata"].get("finalizers", [])  # type: ignore[no-any-return]

    def until_finalizers(self, kind: str, name: str, *wanted: str) -> None:
        eventually(lambda: self.finalizers(kind, name) == list(wanted), f"{kind} {name} with {wanted}")

    def namespace_is_there(self) -> bool:
        selected = f"metadata.name={self.namespace}"
        return bool(self.kubectl.json("get", "namespaces", "--field-selector", selected)["items"])

    def until_gateways(self, *replicas: int) -> None:
        eventually(lambda: self.asked_gateways() == list(replicas), f"cells that ask for {replicas} gateways")

    def until_generation(self, generation: int, template: str = "CellTemplate/gate") -> None:
        def applied() -> bool:
            found = self.status().get("appliedTemplateGenerations", {})
            return bool(found.get(template) == generation)

        eventually(applied, f"generation {generation} of {template} in force")

    def until_pending(self) -> dict[str, Any]:
        eventually(lambda: self.condition().get("status") == "True", "the update to be shown")
        return self.condition()

    def until_unasked(self) -> None:
        eventually(
            lambda: not any("template-update" in name for name in self.annotations()), "no request left"
        )
        eventually(lambda: self.condition().get("status") == "False", "nothing to be pending")
