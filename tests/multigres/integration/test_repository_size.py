"""The status has the size of the repository, which a real Postgres server reads from the program that archives."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from tests.multigres.support.clusters import Clusters, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.real_postgres import REFERENCE, connect_to, create_superuser
from tests.multigres.support.waiting import eventually
from tests.support.database_servers import DatabaseServer, archiving_postgres_server
from tests.support.kubectl import Kubectl

CLUSTER = "sized"
SHARD = names.shard(names.ShardPath(CLUSTER, "postgres", "default", "0-inf"))


def write_program(server: DatabaseServer, *deltas: int) -> None:
    """A program that answers as pgBackRest does."""
    backups = [{"info": {"repository": {"delta": delta}}} for delta in deltas]
    answer = server.socket.with_name("answer")
    answer.write_text(json.dumps([{"backup": backups}]))
    program = server.socket.with_name("pgbackrest")
    program.write_text(f"#!/bin/sh\ncat {answer}\n")
    program.chmod(0o755)


@pytest.fixture
def archiving() -> Iterator[DatabaseServer]:
    command = "{directory}/pgbackrest --stanza=multigres --config=/none archive-push %p"
    with archiving_postgres_server(command) as server:
        yield server


@pytest.fixture
def clusters(
    control_plane: ControlPlane, kubectl: Kubectl, namespace: str, tmp_path: Path, archiving: DatabaseServer
) -> Iterator[Clusters]:
    forwards = connect_to(control_plane, archiving, namespace, [CLUSTER], "main")
    create_superuser(archiving, kubectl, namespace)
    with running_operator(control_plane, namespace, tmp_path / "operator.log", connect_to=forwards):
        yield Clusters(kubectl, namespace)


def test_each_change_of_the_repository_is_measured_by_the_primary(
    clusters: Clusters, archiving: DatabaseServer
) -> None:
    def size(kind: str, name: str) -> Any:
        return ((clusters.get(kind, name).get("status") or {}).get("backup") or {}).get("repositoryBytes")

    write_program(archiving, 2760740)
    clusters.apply(small_cluster(clusters.namespace, CLUSTER, **REFERENCE))
    clusters.wait_ready(CLUSTER)
    eventually(
        lambda: size("shard", SHARD) == size("mgc", CLUSTER) == 2760740, "the size of the first backup"
    )

    write_program(archiving, 2760740, 162733)
    clusters.apply(
        {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "MultigresBackup",
            "metadata": {"name": "second", "namespace": clusters.namespace},
            "spec": {"cluster": CLUSTER, "type": "incremental"},
        }
    )
    eventually(lambda: size("shard", SHARD) == size("mgc", CLUSTER) == 2923473, "the size of both backups")
