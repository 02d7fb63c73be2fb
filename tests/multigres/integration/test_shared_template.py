"""A template of many clusters changes while a user edits one cluster, on a real control plane.

A dozen clusters without servers, and few workers: not all clusters are reconciled at once. The operator is stopped
while both edits are made, so that it finds them together on any machine. The benchmark `template_herd` measures the
same with a hundred clusters and all workers.
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
from tests.multigres.support.operator import running_operator
from tests.multigres.support.template_update_scenario import TemplateUpdateScenario, eventually
from tests.multigres.support.waiting import run_async
from tests.support.kubectl import Kubectl

HERD = [f"herd-{number}" for number in range(12)]
IDLE = {"spec": {"replicas": 0}}
ONE_MEMBER = {"etcd": {"replicas": 1}}


class Herd(TemplateUpdateScenario):
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
            "globalTopoServer": ONE_MEMBER,
            "multiadmin": IDLE,
            "multiadminWeb": IDLE,
        }
        self.apply("MultigresCluster", name, spec)

    def ready(self) -> set[str]:
        found = self.kubectl.json("get", "mgc", "-n", self.namespace)["items"]
        return {
            item["metadata"]["name"] for item in found if (item.get("status") or {}).get("phase") == "Stopped"
        }

    def cells(self) -> dict[str, Any]:
        found = self.kubectl.json("get", "cells.multigres.com", "-n", self.namespace)["items"]
        return {cell["metadata"]["name"]: cell["spec"]["multiGateway"]["resources"] for cell in found}

    def until_seen(self, kind: str, name: str) -> None:
        """Waits until watchers can have received the last edit: reads from the watch cache of the API server."""
        found = self.get_object(kind, name)["metadata"]["resourceVersion"]
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


def test_an_edit_of_one_cluster_is_reconciled_before_all_clusters_of_a_template(
    operator: subprocess.Popen[bytes], control_plane: ControlPlane, kubectl: Kubectl, namespace: str
) -> None:
    herd = Herd(kubectl, namespace)
    herd.grow()
    audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
    mark = run_async(audit.mark())
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
    calls = run_async(audit.calls_since(mark)).writes_of("multigres-operator")
    written = [
        each.call.name
        for each in calls
        if each.call.namespace == namespace and each.call.resource == "cells" and not each.call.subresource
    ]
    assert theirs < set(written)
    assert written.index(mine) < max(place for place, name in enumerate(written) if name in theirs)
