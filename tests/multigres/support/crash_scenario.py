"""A small cluster whose operator crashes at every write, and all writes that its processes made together."""

from collections import Counter
from typing import Any

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditedCall, AuditLog, LogPosition
from tests.multigres.support.cluster_deletion import SHORT_PERIODS, DeletedCluster, two_server_cluster
from tests.multigres.support.crash_runs import IsDone, crash_after_write, crash_at_every_write, run_until
from tests.multigres.support.waiting import run_async
from tests.support.kubectl import Kubectl

NO_ADMIN, ONE_ADMIN = {"spec": {"replicas": 0}}, {"spec": {"replicas": 1}}
PARTS = ("cells", "tablegroups", "shards", "toposervers", "deployments", "statefulsets")


class CrashScenario(DeletedCluster):
    def __init__(
        self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str, **settings: str
    ) -> None:
        super().__init__(kubectl, namespace)
        self.control_plane = control_plane
        self.settings = {**SHORT_PERIODS, **settings}
        self.audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)

    def apply_spec(self, **spec: Any) -> None:
        small = {"multiadmin": ONE_ADMIN, "multiadminWeb": NO_ADMIN}
        self.apply(two_server_cluster(self.namespace, **{**small, **spec}))

    def is_ready(self) -> bool:
        live = self.get("mgc", "mini")
        status = live.get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready" and c["status"] == "True"]
        return bool(ready) and status["observedGeneration"] == live["metadata"]["generation"]

    def run_until_done(self, is_done: IsDone) -> None:
        """Runs one operator without a crash."""
        run_async(run_until(self.control_plane, self.namespace, is_done, **self.settings))

    def crash_until(self, is_done: IsDone) -> int:
        """Crashes the operator at every write; returns the number of these writes."""
        return run_async(crash_at_every_write(self.control_plane, self.namespace, is_done, **self.settings))

    def crash_after_first_writes(self, processes: int) -> None:
        """Crashes one operator after another, each as soon as its first write was committed."""
        for _ in range(processes):
            run_async(crash_after_write(self.control_plane, self.namespace, 1, **self.settings))

    def names(self, kind: str) -> set[str]:
        return {each["metadata"]["name"] for each in self.all(kind)}

    def uids(self, kind: str) -> dict[str, str]:
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in self.all(kind)}

    def parts(self) -> set[str]:
        """Names of children and workloads."""
        return {f"{kind}/{name}" for kind in PARTS for name in self.names(kind)}

    def mark(self) -> LogPosition:
        return run_async(self.audit.mark())

    def made(self, since: LogPosition) -> list[str]:
        return self._of_parts(each for each in self._own(since) if each.code == 201)

    def deleted(self, since: LogPosition) -> list[str]:
        return self._of_parts(each for each in self._own(since) if each.call.verb == "delete")

    def repeated(self, since: LogPosition) -> list[str]:
        """Objects that the operator created or deleted more than once."""
        done = Counter(
            (each.code == 201, each.call.resource, each.call.name)
            for each in self._own(since)
            if each.code == 201 or each.call.verb == "delete"
        )
        return [f"{resource}/{name}" for (_, resource, name), times in done.items() if times > 1]

    def _own(self, since: LogPosition) -> list[AuditedCall]:
        calls = run_async(self.audit.calls_since(since)).writes_of("multigres-operator")
        return [
            each
            for each in calls
            if each.call.namespace == self.namespace and each.code < 300 and each.call.resource != "events"
        ]

    def _of_parts(self, calls: Any) -> list[str]:
        return sorted(
            f"{each.call.resource}/{each.call.name}" for each in calls if each.call.resource in PARTS
        )
