"""`steward explain` with files."""

import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from steward.cli.commands.explain import command, explain_live_cluster
from steward.cli.preview.namespace_snapshot import NamespaceSnapshot
from steward.kube.objects.kinds import Key, ref_of
from tests.support.paths import ROOT

SAMPLES = ROOT / "config" / "samples" / "multigres"


def explained(*args: str) -> dict[str, tuple[object, str]]:
    result = CliRunner().invoke(command, [*args, "-o", "json"])
    assert result.exit_code == 0, result.output
    return {row["path"]: (row["value"], row["source"]) for row in json.loads(result.output)}


def test_values_are_shown_with_the_template_or_field_that_set_them() -> None:
    found = explained("-f", str(SAMPLES / "templates.yaml"))
    assert found["globalTopoServer.etcd.storage"] == ({"size": "2Gi"}, "CoreTemplate small-core")
    assert found["globalTopoServer.etcd.image"][1] == "built-in"
    assert found["cells[z1].multiGateway.replicas"] == (2, "CellTemplate two-gateways")
    assert found["cells[z2].multiGateway.replicas"] == (1, "spec.cells[1].overrides")
    pool = "databases[postgres].tablegroups[default].shards[0-inf].pools[main]"
    assert found[f"{pool}.replicasPerCell"] == (2, "ShardTemplate small-shard")


def test_inherited_values_are_shown_with_their_level() -> None:
    found = explained("-f", str(SAMPLES / "pvc-policy.yaml"))
    group = "databases[postgres].tablegroups[default]"
    policy = f"{group}.shards[0-inf].pvcDeletionPolicy"
    assert found[f"{policy}.whenScaled"] == ("Delete", f"spec.{group}")
    assert found[f"{policy}.whenDeleted"] == ("Retain", "spec")


def test_postgres_settings_are_shown_one_by_one_and_beside_those_by_memory() -> None:
    shard = {"name": "0-inf", "overrides": {"postgres": {"settings": {"work_mem": "8MB", "jit": "off"}}}}
    group = {"name": "default", "default": True, "shards": [shard]}
    cluster = {
        "apiVersion": "multigres.com/v1alpha1",
        "kind": "MultigresCluster",
        "metadata": {"name": "shop"},
        "spec": {
            "cells": [{"zone": "z1"}],
            "databases": [{"name": "postgres", "default": True, "tablegroups": [group]}],
        },
    }
    result = CliRunner().invoke(command, ["-f", "-", "-o", "json"], input=json.dumps(cluster))
    found = {row["path"]: (row["value"], row["source"]) for row in json.loads(result.output)}
    path = "databases[postgres].tablegroups[default].shards[0-inf]"
    settings = f"{path}.postgres.settings"
    assert found[f"{settings}.work_mem"] == ("8MB", f"spec.{path}.overrides")
    by_memory = {name: each for name, each in found.items() if name.endswith("(pool default)")}
    assert by_memory == {
        f"{settings}.{name} (pool default)": (value, "built-in, by postgres.limits.memory 512Mi")
        for name, value in (
            ("effective_cache_size", "384MB"),
            ("maintenance_work_mem", "25MB"),
            ("shared_buffers", "128MB"),
            ("wal_buffers", "-1"),
        )
    }


@pytest.mark.parametrize(("version", "has_settings"), [({"objectsVersion": 2}, True), ({}, False)])
def test_a_cluster_with_older_pods_has_no_settings_by_memory(
    version: dict[str, int], has_settings: bool
) -> None:
    api = "multigres.com/v1alpha1"
    cluster = {
        "apiVersion": api,
        "kind": "MultigresCluster",
        "metadata": {"name": "shop", "namespace": "ns", "uid": "u", "generation": 1},
        "spec": {"cells": [{"zone": "z1"}]},
    }
    labels = {"multigres.com/cluster": "shop"}
    metadata = {"name": "shop-z1", "namespace": "ns", "uid": "v", "generation": 1, "labels": labels}
    cell = {"apiVersion": api, "kind": "Cell", "metadata": metadata, "spec": {"name": "z1", **version}}
    snapshot = NamespaceSnapshot({ref_of(each): each for each in (cluster, cell)}, {})
    now = datetime.datetime.now(datetime.UTC)
    rows = explain_live_cluster(snapshot, Key("ns", "shop"), now)
    assert any("shared_buffers" in row.path for row in rows) is has_settings


def test_several_documents_on_standard_input_are_resolved_together() -> None:
    text = (SAMPLES / "templates.yaml").read_text() + "\n---\n" + (SAMPLES / "minimal.yaml").read_text()
    result = CliRunner().invoke(command, ["-f", "-", "minimal"], input=text)
    assert result.exit_code == 0
    assert "cells[z1].multiGateway.replicas" in result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name a cluster, or give its manifest with -f"),
        (["other", "-f", str(SAMPLES / "minimal.yaml")], "name one MultigresCluster; there are: minimal"),
    ],
)
def test_a_cluster_that_cannot_be_explained_is_reported_in_one_sentence(
    args: list[str], message: str
) -> None:
    result = CliRunner().invoke(command, args)
    assert result.exit_code == 1
    assert message in result.output


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_sample_can_be_explained(sample: Path) -> None:
    assert explained("-f", str(sample))
