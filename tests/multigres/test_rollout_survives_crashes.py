"""Pods are replaced although the operator is killed at every write on the way: as many of them, in the same order."""

from pathlib import Path

from steward.local.control_plane import ControlPlane
from steward.testkit import AuditLog
from tests.kubectl import Kubectl
from tests.multigres.conftest import running_operator
from tests.multigres.lives import counted, killed_at_every_write
from tests.multigres.test_rollout_on_a_server import BETTER, GOOD, TWO_POOLS, Subject
from tests.multigres.test_topology_on_a_server import run, running_stand_in


def test_a_rolling_change_survives_a_kill_at_every_write(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path
) -> None:
    with running_stand_in(control_plane, namespace, tmp_path) as forwards:
        rolled = Subject(kubectl, namespace, forwards)
        with running_operator(control_plane, namespace, tmp_path / "first.log", connect_to=f"@{forwards}"):
            rolled.run_on(GOOD, TWO_POOLS)
            rolled.wait_settled(GOOD, 3)
            primary = rolled.wait_primary()
        before = rolled.uids()
        audit = AuditLog(control_plane.audit_log, control_plane.kubeconfig)
        mark = run(audit.mark())
        rolled.run_on(BETTER, TWO_POOLS)

        def is_over() -> bool:
            told = rolled.told("RollingUpdate")
            return rolled.images() == [BETTER] * 3 and told is not None and told["reason"] == "PodsUpToDate"

        lives = run(killed_at_every_write(control_plane, namespace, is_over, connect_to=f"@{forwards}"))
        # Each of the three evictions ends two lives, and so do most of the writes before them.
        assert lives >= 2 * 3
        made = counted(run(audit.calls_since(mark)), namespace, "pods", "statefulsets")
        assert sorted(made["- pods"]) == sorted(before)
        assert made["- pods"][-1] == primary
        assert len(made["+ pods"]) == 3
        assert made["+ statefulsets"] == made["- statefulsets"] == []
        assert not set(rolled.uids().values()) & set(before.values())
