"""A template that many clusters use changes while somebody edits a cluster of their own, on a real control plane.

A dozen clusters in which nothing runs, and few workers: the herd is longer than what is taken at once. The operator is
halted while both edits are made, so that it finds them together, however slow the machine is. How long the same takes
with a hundred clusters and all workers is measured by the scenario `template_herd`.
"""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.testkit import AuditLog
from tests.multigres.conftest import running_operator
from tests.multigres.integration.test_topology import run
from tests.multigres.support.update_story import Story, eventually
from tests.support.kubectl import Kubectl

HERD = [f"herd-{number}" for number in range(12)]
IDLE = {"spec": {"replicas": 0}}
NOWHERE = {"external": {"endpoints": ["http://127.0.0.1:9"]}}


class Herd(Story):
    def grow(self) -> None:
        for template in ("shared", "own"):
            self.template(template, "10m")
        self.apply(
            "ShardTemplate", "std", {"multiorch": {"replicas": 0}, "pools": {"main": {"replicasPerCell": 0}}}
        )
        for name in HERD:
            self.member(name, "shared", "z1")
        self.member("mine", "own", "z1")
        eventually(lambda: self.ready() == {*HERD, "mine"}, "every cluster to be ready")

    def template(self, name: str, cpu: str) -> None:
        gateway = {"replicas": 0, "resources": {"requests": {"cpu": cpu}}}
        self.apply("CellTemplate", name, {"multiGateway": gateway})

    def member(self, name: str, template: str, *zones: str) -> None:
        spec = {
            "cells": [{"zone": zone} for zone in zones],
            "templateDefaults": {"cellTemplate": template, "shardTemplate": "std"},
            "globalTopoServer": NOWHERE,
            "multiadmin": IDLE,
            "multiadminWeb": IDLE,
        }
        self.apply("MultigresCluster", name, spec)

    def ready(self) -> set[str]:
        found = self.kubectl.json("get", "mgc", "-n", self.namespace)["items"]
        return {
            seen["metadata"]["name"] for seen in found if (seen.get("status") or {}).get("phase") == "Healthy"
        }

    def cells(self) -> dict[str, Any]:
        found = self.kubectl.json("get", "cells.multigres.com", "-n", self.namespace)["items"]
        return {cell["metadata"]["name"]: cell["spec"]["multiGateway"]["resources"] for cell in found}

    def until_seen(self, kind: str, name: str) -> None:
        """Until whoever watches can have heard of the last edit: a read of what the server's own cache holds."""
        found = self.found(kind, name)["metadata"]["resourceVersion"]
        path = self.kubectl.server.kind(kind).path(self.namespace, name)  # type: ignore[union-attr]
        assert self.kubectl.server.call("GET", f"{path}?resourceVersion={found}").status == 200


@contextmanager
def halted(process: subprocess.Popen[bytes]) -> Iterator[None]:
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@pytest.fixture
def operator(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    few = "multigrescluster=3"
    with running_operator(control_plane, namespace, tmp_path / "operator.log", workers=few) as process:
        yield process


def test_an_edit_of_one_cluster_is_served_before_the_herd_is_through(
    operator: subprocess.Popen[bytes], control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    herd = Herd(kubectl, namespace)
    herd.grow()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run(audit.mark())
    with halted(operator):
        herd.template("shared", "20m")
        herd.member("mine", "own", "z1", "z2")
        herd.until_seen("celltemplate", "shared")
        herd.until_seen("mgc", "mine")
    theirs = {names.cell(name, "z1") for name in HERD}
    newest = {"requests": {"cpu": "20m"}}
    eventually(
        lambda: all(herd.cells()[name] == newest for name in theirs), "the new content in every cluster"
    )
    mine = names.cell("mine", "z2")
    eventually(lambda: mine in herd.cells(), "the new cell")
    calls = run(audit.calls_since(mark)).writes_of("multigres-operator")
    written = [
        each.call.name
        for each in calls
        if each.call.namespace == namespace and each.call.resource == "cells" and not each.call.subresource
    ]
    assert theirs < set(written)
    assert written.index(mine) < max(place for place, name in enumerate(written) if name in theirs)
