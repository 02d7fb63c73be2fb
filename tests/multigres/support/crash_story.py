"""A small cluster whose operator is killed at every write of a story, and what all its lives did together."""

from collections import Counter
from typing import Any

from steward.local.control_plane import ControlPlane
from steward.testkit import Audited, AuditLog, Mark
from tests.multigres.integration.test_cluster_deletion import HASTY, Ends, small
from tests.multigres.integration.test_topology import run
from tests.multigres.support.process_lives import IsOver, killed_at_every_write, lived
from tests.support.kubectl import Kubectl

NO_ADMIN = {"spec": {"replicas": 0}}
PARTS = ("cells", "tablegroups", "shards", "toposervers", "deployments", "statefulsets")


class CrashStory(Ends):
    def __init__(
        self, control_plane: ControlPlane, kubectl: Kubectl, namespace: str, **settings: str
    ) -> None:
        super().__init__(kubectl, namespace)
        self.control_plane = control_plane
        self.settings = {**HASTY, **settings}
        self.audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)

    def ask(self, **spec: Any) -> None:
        self.apply(small(self.namespace, multiadmin=NO_ADMIN, multiadminWeb=NO_ADMIN, **spec))

    def is_ready(self) -> bool:
        seen = self.get("mgc", "mini")
        status = seen.get("status") or {}
        ready = [c for c in status.get("conditions", []) if c["type"] == "Ready" and c["status"] == "True"]
        return bool(ready) and status["observedGeneration"] == seen["metadata"]["generation"]

    def until(self, is_over: IsOver) -> None:
        """In one life."""
        run(lived(self.control_plane, self.namespace, is_over, **self.settings))

    def lives(self, is_over: IsOver) -> int:
        """In as many as it takes when each dies at its first write."""
        return run(killed_at_every_write(self.control_plane, self.namespace, is_over, **self.settings))

    def names(self, kind: str) -> set[str]:
        return {each["metadata"]["name"] for each in self.all(kind)}

    def uids(self, kind: str) -> dict[str, str]:
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in self.all(kind)}

    def parts(self) -> set[str]:
        """Children and workloads."""
        return {f"{kind}/{name}" for kind in PARTS for name in self.names(kind)}

    def mark(self) -> Mark:
        return run(self.audit.mark())

    def made(self, since: Mark) -> list[str]:
        return self._of_parts(each for each in self._own(since) if each.code == 201)

    def deleted(self, since: Mark) -> list[str]:
        return self._of_parts(each for each in self._own(since) if each.call.verb == "delete")

    def repeated(self, since: Mark) -> list[str]:
        """What the operator made or deleted more than once, whatever its kind."""
        done = Counter(
            (each.code == 201, each.call.resource, each.call.name)
            for each in self._own(since)
            if each.code == 201 or each.call.verb == "delete"
        )
        return [f"{resource}/{name}" for (_, resource, name), times in done.items() if times > 1]

    def _own(self, since: Mark) -> list[Audited]:
        calls = run(self.audit.calls_since(since)).writes_of("multigres-operator")
        return [
            each
            for each in calls
            if each.call.namespace == self.namespace and each.code < 300 and each.call.resource != "events"
        ]

    def _of_parts(self, calls: Any) -> list[str]:
        return sorted(
            f"{each.call.resource}/{each.call.name}" for each in calls if each.call.resource in PARTS
        )
