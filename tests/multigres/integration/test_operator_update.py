"""Clusters of a previous release move to the pods of a newer operator, as their update policies allow it.

All tests share the clusters: while no operator runs, each makes those that it needs clusters of a previous release.
"""

from contextlib import ExitStack
from pathlib import Path

import pytest
from click.testing import CliRunner

from steward.cli.main import steward
from steward.local.control_plane import ControlPlane
from steward.multigres import reasons
from steward.multigres.objects.versions import FIRST, NEWEST
from steward.multigres.template_updates.notices import APPLY_NOW
from tests.multigres.support.more_short_periods import EARLY_STATUS
from tests.multigres.support.operator import running_operator
from tests.multigres.support.operator_update_scenario import (
    CHILDREN,
    OperatorUpdateScenario,
    crashing_newer_gateways,
)
from tests.multigres.support.rollout_cluster import GOOD, RolloutCluster
from tests.multigres.support.waiting import eventually
from tests.support import data_planes
from tests.support.kubectl import Kubectl

AUTOMATIC, MANUAL = ("first", "second"), ("manual", "declared")
THREE = {"main": {"type": "readWrite", "replicasPerCell": 3, "cells": ["z1"]}}


class UpdatedClusters(OperatorUpdateScenario):
    """Clusters without servers, and one with three."""

    def __init__(self, kubectl: Kubectl, namespace: str, forwards: Path) -> None:
        super().__init__(kubectl, namespace)
        self.servers = RolloutCluster(kubectl, namespace, forwards, "servers")

    def create_all(self) -> None:
        self.servers.apply_image(GOOD, THREE, cells=[{"zone": "z1"}])
        for name in AUTOMATIC:
            self.create(name)
        for name in MANUAL:
            self.create(name, templateChanges="Manual")
        self.wait_ready(*AUTOMATIC, *MANUAL)
        self.servers.wait_updated(GOOD, 3)

    def set_first_version_of(self, *clusters: str) -> None:
        """As a release without versions leaves the children: while no operator runs."""
        patch = '{"spec":{"objectsVersion":null}}'
        label = f"multigres.com/cluster in ({','.join(clusters)})"
        for kind in CHILDREN:
            for child in self.kubectl.json("get", kind, "-n", self.namespace, "-l", label)["items"]:
                name = child["metadata"]["name"]
                self.kubectl("patch", kind, name, "-n", self.namespace, "--type=merge", "-p", patch)


@pytest.fixture(scope="module")
def scenario(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> UpdatedClusters:
    """All clusters, of the newest version, and no operator."""
    found = UpdatedClusters(kubectl, long_namespace, data_planes.forwards_file(control_plane))
    log = tmp_path_factory.mktemp("earlier") / "operator.log"
    with running_operator(control_plane, long_namespace, log, periods=EARLY_STATUS):
        found.create_all()
    assert found.versions("manual") == {NEWEST}, "a new cluster starts with the newest version"
    return found


@pytest.fixture
def earlier(scenario: UpdatedClusters) -> UpdatedClusters:
    """The clusters without servers are of a previous release."""
    scenario.set_first_version_of(*AUTOMATIC, *MANUAL)
    return scenario


def updates_command(control_plane: ControlPlane, namespace: str, *words: str) -> str:
    where = ("-n", namespace, "--kubeconfig", str(control_plane.kubeconfig))
    result = CliRunner().invoke(steward, ["updates", *words, *where])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


def wait_for_one_that_moves(scenario: UpdatedClusters) -> tuple[str, str]:
    """The cluster that moves, and the one that waits for it."""

    [moving] = eventually(scenario.moving, "one cluster to move")
    return moving, next(name for name in AUTOMATIC if name != moving)


def test_an_upgrade_moves_one_cluster_at_a_time_and_a_bad_one_keeps_the_others_as_they_are(
    control_plane: ControlPlane, kubectl: Kubectl, earlier: UpdatedClusters, tmp_path: Path
) -> None:
    scenario, namespace = earlier, earlier.namespace
    with ExitStack() as stack:
        with crashing_newer_gateways(kubectl, namespace):
            with running_operator(control_plane, namespace, tmp_path / "upgraded.log", periods=EARLY_STATUS):
                moving, waiting = wait_for_one_that_moves(scenario)
                message = scenario.wait_for_reason(waiting, reasons.WAITING_FOR_OTHER_CLUSTERS)["message"]
                assert f"It applies after {namespace}/{moving};" in message
                assert "It restarts 0 Postgres servers, 1 gateway, " in message
                eventually(lambda: scenario.has_newer_gateways(moving), f"newer gateways of {moving}")
                eventually(lambda: not scenario.is_ready(moving), f"{moving} to report that it is not ready")
                listed = updates_command(control_plane, namespace)
                assert f"{waiting} " in listed
                assert f"{moving} " not in listed
            stack.enter_context(
                running_operator(control_plane, namespace, tmp_path / "restarted.log", periods=EARLY_STATUS)
            )
            scenario.wait_for_reason(waiting, reasons.WAITING_FOR_OTHER_CLUSTERS)
            assert scenario.moving() == [moving]
            assert scenario.versions(waiting) == {FIRST}
            assert not scenario.has_newer_gateways(waiting)
        # Gateways no longer crash.
        with scenario.at_most_one_moves():
            scenario.delete_gateway_pods(moving)
            eventually(lambda: all(map(scenario.is_updated, AUTOMATIC)), "both clusters to be updated")
            assert all(scenario.has_newer_gateways(name) for name in AUTOMATIC)
            assert scenario.versions("manual") == {FIRST}


def test_a_manual_cluster_waits_until_the_update_is_accepted_by_command_or_in_the_spec(
    control_plane: ControlPlane, earlier: UpdatedClusters, tmp_path: Path
) -> None:
    scenario, namespace = earlier, earlier.namespace
    with running_operator(
        control_plane,
        namespace,
        tmp_path / "upgraded.log",
        periods=EARLY_STATUS,
        max_concurrent_cluster_updates="2",
    ):
        eventually(lambda: all(map(scenario.is_updated, AUTOMATIC)), "the automatic clusters to be updated")
        waiting = scenario.wait_for_reason("manual", reasons.WAITING_FOR_APPROVAL)
        revision = scenario.status("manual")["availableTemplateRevision"]
        assert revision in waiting["message"]
        assert scenario.versions("manual") == {FIRST}
        assert not scenario.has_newer_gateways("manual")
        assert "operator" in updates_command(control_plane, namespace)

        assert "uses the changes now" in updates_command(control_plane, namespace, "apply", "manual", "--yes")
        eventually(lambda: scenario.is_updated("manual"), "the accepted cluster to be updated")
        assert APPLY_NOW not in scenario.annotations("manual")
        assert scenario.versions("declared") == {FIRST}
        scenario.accept("declared", revision)
        eventually(
            lambda: scenario.is_updated("declared"), "the cluster that accepts the revision to be updated"
        )
        assert updates_command(control_plane, namespace) == "No change is pending.\n"


def test_servers_are_replaced_one_at_a_time_before_the_slot_is_free(
    control_plane: ControlPlane, scenario: UpdatedClusters, tmp_path: Path
) -> None:
    scenario.set_first_version_of("servers")
    with running_operator(control_plane, scenario.namespace, tmp_path / "upgraded.log", periods=EARLY_STATUS):
        scenario.wait_for_reason("servers", reasons.OPERATOR_UPDATE_IN_PROGRESS)
        eventually(lambda: not scenario.reason("servers"), "the slot to be free")
        pods = scenario.servers.servers().values()
        probes = [pod["spec"]["initContainers"][0]["readinessProbe"] for pod in pods]
        assert len(probes) == 3
        assert all("exec" in probe for probe in probes)
        assert scenario.is_updated("servers")
