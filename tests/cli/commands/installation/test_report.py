"""`steward report` writes an archive in which no canary is, wherever it was put."""

import base64
import stat
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from steward.cli.main import steward
from steward.install.operators import MULTIGRES, selector
from tests.cli.support.pod_stream_server import PodStreamServer, pod, running_server

SYSTEM = "shop"
CANARIES = ("s3cret-value", "env-canary", "note-canary", "uri-canary", "log-canary", "bearer-canary1")


def cluster_server() -> PodStreamServer:
    """A cluster with a canary in everything that a report reads."""
    server = PodStreamServer(
        logs={
            ("operator-0", "operator"): [
                "2026-01-01T00:00:00Z started",
                "2026-01-01T00:00:01Z connect postgresql://app:uri-canary@db/orders",
                "2026-01-01T00:00:02Z password=log-canary Authorization: Bearer bearer-canary1",
                "2026-01-01T00:00:03Z the row has s3cret-value in it",
            ]
        }
    )
    data = {"password": base64.b64encode(b"s3cret-value").decode()}
    meta = {"name": "db-app", "namespace": SYSTEM}
    server.add("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data})
    operator = pod("operator-0", "operator", **selector(MULTIGRES))
    operator["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "env-canary"}]
    operator["metadata"]["annotations"] = {"example.com/note": "note-canary"}
    server.add("pods", operator)
    spec = {"cells": [{"zone": "z1"}], "observability": {"otlpEndpoint": "http://u:uri-canary@otel"}}
    status = {"phase": "Degraded", "message": "the answer was s3cret-value", "conditions": []}
    meta = {"name": "db", "namespace": SYSTEM, "annotations": {"example.com/note": "note-canary"}}
    server.add(
        "multigresclusters",
        {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "MultigresCluster",
            "metadata": meta,
            "spec": spec,
            "status": status,
        },
    )
    return server


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """The files of a report, by name."""
    target = tmp_path / "report.tar.gz"
    with running_server(cluster_server()) as server:
        config = str(server.write_kubeconfig(tmp_path / "kubeconfig"))
        words = ["report", "--system-namespace", SYSTEM, "--file", str(target), "--kubeconfig", config]
        done = CliRunner().invoke(steward, words)
    assert done.exit_code == 0, done.output
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    return _unpack(target)


def _unpack(path: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(path) as tar:
        for entry in tar.getmembers():
            content = tar.extractfile(entry)
            assert content is not None
            found[entry.name.partition("/")[2]] = content.read().decode()
    return found


def test_no_canary_is_in_a_report(files: dict[str, str]) -> None:
    leaked = {(name, canary) for name, text in files.items() for canary in CANARIES if canary in text}
    assert leaked == set()


def test_a_report_has_what_a_reader_needs(files: dict[str, str]) -> None:
    assert {"README.txt", "doctor.json", "events.json", "tree.txt"} <= set(files)
    assert '"phase": "Degraded"' in files[f"objects/{SYSTEM}/multigrescluster.json"]
    assert "MultigresCluster shop/db" in files["tree.txt"]
    assert files[f"logs/{SYSTEM}/operator-0-operator.log"].startswith("2026-01-01T00:00:00Z started\n")


def test_what_could_not_be_read_is_listed(files: dict[str, str]) -> None:
    """The server of the test does not serve events."""
    assert "- events: " in files["README.txt"]
