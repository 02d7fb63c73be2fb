"""Which containers `steward logs` reads."""

from typing import Any

import pytest

from steward.cli.operations.log_targets import LogFilter, log_targets


def pod(name: str, component: str, *containers: str, sidecars: tuple[str, ...] = ()) -> dict[str, Any]:
    init = [{"name": "prepare"}, *({"name": each, "restartPolicy": "Always"} for each in sidecars)]
    return {
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": name,
            "labels": {"app.kubernetes.io/component": component},
        },
        "spec": {"initContainers": init, "containers": [{"name": each} for each in containers]},
    }


PODS = [
    pod("pg-1", "shard-pool", "multipooler", sidecars=("pgctld",)),
    pod("pg-0", "shard-pool", "multipooler", sidecars=("pgctld",)),
    pod("gw", "multigateway", "multigateway"),
    pod("etcd-0", "toposerver", "etcd"),
]


def labels(chosen: LogFilter) -> list[str]:
    return [target.label for target in log_targets(PODS, ["pg-1"], chosen)]


def test_all_containers_that_keep_running_are_shown_in_the_order_of_their_pods() -> None:
    assert labels(LogFilter()) == [
        "etcd-0/etcd",
        "gw/multigateway",
        "pg-0/pgctld",
        "pg-0/multipooler",
        "pg-1/pgctld",
        "pg-1/multipooler",
    ]


@pytest.mark.parametrize(
    ("role", "found"),
    [
        ("primary", ["pg-1/pgctld", "pg-1/multipooler"]),
        ("replica", ["pg-0/pgctld", "pg-0/multipooler"]),
        ("gateway", ["gw/multigateway"]),
        ("topology", ["etcd-0/etcd"]),
        ("orchestrator", []),
    ],
)
def test_a_role_selects_pods(role: str, found: list[str]) -> None:
    assert labels(LogFilter(role)) == found


def test_a_container_is_selected_by_its_name_also_one_that_has_ended() -> None:
    assert labels(LogFilter(container="pgctld")) == ["pg-0/pgctld", "pg-1/pgctld"]
    assert labels(LogFilter("gateway", "prepare")) == ["gw/prepare"]
