"""Which containers `steward logs` reads."""

from typing import Any, cast

import pytest

from steward.cli.inspect.find import NotFoundInTrees
from steward.cli.operations.log_targets import LogFilter, log_targets, read_log_targets
from steward.kube.client.client import Client
from steward.kube.client.decode import Listing
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.objects.options import ListQuery


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


class TenantNamespace:
    """A server with a workload whose Tenant is in another namespace, so that no tree has it."""

    async def get(self, kind: Kind, key: Key) -> Manifest:
        found = {
            "Pod": pod("web-1", "", "app"),
            "Deployment": {
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"selector": {"matchLabels": {"app": "web"}}},
            },
        }
        if found.get(kind.kind, {}).get("metadata", {}).get("name") != key.name:
            raise NotFound(404, "NotFound", "no such object")
        return found[kind.kind]

    async def list(self, kind: Kind, query: ListQuery) -> Listing[Manifest]:
        is_selected = kind.kind == "Pod" and query.label_selector == "app=web"
        return Listing([pod("web-1", "", "app")] if is_selected else [], "1")


@pytest.mark.parametrize("what", ["pod/web-1", "deploy/web"])
async def test_logs_of_a_pod_or_workload_that_no_tree_has_are_read(what: str) -> None:
    client = cast(Client, TenantNamespace())
    [target] = await read_log_targets(client, "shop", what, LogFilter())
    assert target.label == "web-1/app"


@pytest.mark.parametrize("what", ["pod/web-2", "web-1", "tenant/web-1"])
async def test_logs_of_what_does_not_exist_are_an_error(what: str) -> None:
    with pytest.raises(NotFoundInTrees):
        await read_log_targets(cast(Client, TenantNamespace()), "shop", what, LogFilter())
