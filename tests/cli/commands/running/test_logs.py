"""`steward logs` from the command line to the lines that it prints."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from steward.cli.main import steward
from steward.kube.objects.kinds import Manifest
from tests.cli.support.pod_stream_server import PodStreamServer, pod, running_server

MULTIGRES = "multigres.com/v1alpha1"
META = {"name": "db", "namespace": "shop", "uid": "c"}
OWNED = [{"apiVersion": MULTIGRES, "kind": "MultigresCluster", "name": "db", "uid": "c", "controller": True}]
Logs = Callable[..., Result]


def component_pod(name: str, component: str, *containers: str) -> Manifest:
    made = pod(name, *containers)
    made["metadata"] |= {
        "ownerReferences": OWNED,
        "labels": {
            "app.kubernetes.io/managed-by": "multigres-operator",
            "app.kubernetes.io/component": component,
            "multigres.com/cluster": "db",
        },
    }
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[PodStreamServer]:
    server = PodStreamServer(
        logs={
            ("gw", "multigateway"): [
                "2026-01-01T00:00:02Z gateway \x1b[31mred",
                "2026-01-01T00:00:04Z gateway 4",
            ],
            ("pg-0", "multipooler"): ["2026-01-01T00:00:03Z pooler 3"],
        }
    )
    server.add(
        "multigresclusters",
        {"apiVersion": MULTIGRES, "kind": "MultigresCluster", "metadata": META, "spec": {}},
    )
    server.add("pods", component_pod("gw", "multigateway", "multigateway"))
    server.add("pods", component_pod("pg-0", "shard-pool", "multipooler", "exporter"))
    with running_server(server):
        yield server


@pytest.fixture
def logs(server: PodStreamServer, tmp_path: Path) -> Logs:
    config = str(server.write_kubeconfig(tmp_path / "kubeconfig"))
    return lambda *words: CliRunner().invoke(steward, ["logs", *words, "--kubeconfig", config])


def test_logs_of_a_cluster_are_merged_by_time_and_each_line_names_its_container(logs: Logs) -> None:
    done = logs("db")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "gw/multigateway gateway red",
        "pg-0/multipooler pooler 3",
        "gw/multigateway gateway 4",
    ]
    assert "pg-0/exporter: " in done.stderr
    assert "is waiting to start" in done.stderr


def test_a_role_and_times_are_options(logs: Logs) -> None:
    done = logs("mgc/db", "--role", "gateway", "--tail", "1", "--timestamps")
    assert done.output == "gw/multigateway 2026-01-01T00:00:04Z gateway 4\n"


def test_containers_without_any_log_are_an_error(logs: Logs) -> None:
    done = logs("db", "--container", "exporter")
    assert (done.exit_code, "Error: no log could be read" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("missing",), 1, "there is no missing in namespace shop"),
        (("db", "--role", "admin"), 1, "db has no such container; `steward tree db -n shop --kubeconfig "),
        (("db", "-f", "--previous"), 2, "leave --follow out"),
        (("widget/db",), 2, "widget is not a kind that Steward shows"),
        (("db", "--since", "soon"), 2, "write 90s, 10m or 2h"),
    ],
)
def test_what_cannot_be_shown_is_named(logs: Logs, words: tuple[str, ...], code: int, message: str) -> None:
    done = logs(*words)
    assert done.exit_code == code, done.output
    assert message in done.output
