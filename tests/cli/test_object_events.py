"""The selection of events by `steward events`."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from steward.cli.commands.running import events
from steward.cli.commands.running.events import new_events
from steward.cli.inspect.object_tree import TreeNode, build_trees
from steward.cli.main import steward
from steward.cli.object_events import (
    ObjectEvent,
    event_cells,
    event_dict,
    find_nodes,
    other_namespaces,
    read_event,
    select_events,
)
from tests.cli.support.tree_objects import CLUSTER, tree_object

KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {}}]
"""
SHARD, SET = "Shard/db-0", "StatefulSet/db-main"


def trees() -> tuple[TreeNode, ...]:
    registry = tree_object("TenantRegistry/rows")
    tenant = tree_object("Tenant/acme")
    tenant["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "rows"}
    deployment = {**tree_object("StatefulSet/web", "Tenant/acme"), "kind": "Deployment"}
    cluster = [tree_object(CLUSTER), tree_object(SHARD, CLUSTER), tree_object(SET, SHARD)]
    return build_trees([*cluster, tree_object("TenantRegistry/db"), registry, tenant, deployment])


def event(about: str, namespace: str = "shop", **fields: Any) -> dict[str, Any]:
    kind, _, name = about.partition("/")
    regarding = {"kind": kind, "name": name, "namespace": namespace}
    known = {"reason": "R", "note": "n", "type": "Normal", "eventTime": "2027-01-15T08:00:00.5Z"}
    return {"metadata": {"uid": about}, "regarding": regarding, **known, **fields}


def selected(what: str, *found: dict[str, Any]) -> list[str]:
    return [f"{each.kind}/{each.key.name}" for each in select_events(find_nodes(trees(), what), found)]


@pytest.mark.parametrize(
    ("about", "is_selected"),
    [
        (CLUSTER, True),
        (SHARD, True),
        ("Pod/db-main-0", True),
        ("PersistentVolumeClaim/pgdata-db-main-12", True),
        ("Pod/db-main-0-x", False),
        ("Pod/db-mainly-0", False),
        ("Shard/other", False),
        ("TenantRegistry/rows", False),
    ],
)
def test_events_of_a_cluster_are_those_of_everything_below_it(about: str, is_selected: bool) -> None:
    assert selected("mgc/db", event(about)) == [about] * is_selected


@pytest.mark.parametrize(
    ("about", "is_selected"),
    [
        ("Deployment/web", True),
        ("ReplicaSet/web-5d4f8c7b9", True),
        ("Pod/web-5d4f8c7b9-x2x4z", True),
        ("Pod/web-api-5d4f8c7b9-x2x4z", False),
        ("Pod/web-0", False),
    ],
)
def test_events_of_a_tenant_have_those_of_pods_without_our_labels(about: str, is_selected: bool) -> None:
    assert selected("tenant/acme", event(about)) == [about] * is_selected
    assert selected("rows", event(about)) == [about] * is_selected


def test_events_of_another_namespace_are_not_selected() -> None:
    assert selected("mgc/db", event(CLUSTER, "elsewhere"), event("Pod/db-main-0", "elsewhere")) == []


def test_a_name_alone_means_all_objects_of_users_with_that_name() -> None:
    assert [node.object.ref.kind.kind for node in find_nodes(trees(), "db")] == [
        "MultigresCluster",
        "TenantRegistry",
    ]
    assert find_nodes(trees(), "db-0") == []
    assert len(find_nodes(trees(), "")) == 3


def test_events_are_sorted_by_when_they_happened_last() -> None:
    late = event(CLUSTER, series={"count": 4, "lastObservedTime": "2027-01-15T09:00:00Z"})
    assert selected("", late, event(SHARD)) == [SHARD, CLUSTER]
    assert event_cells(read_event(late)) == [
        "2027-01-15T09:00:00Z",
        "Normal",
        "MultigresCluster shop/db",
        "R",
        "n (×4)",
    ]


def test_events_of_old_reporters_have_a_time_and_a_count() -> None:
    old: dict[str, Any] = {
        "eventTime": None,
        "deprecatedLastTimestamp": "2027-01-15T07:00:00Z",
        "deprecatedCount": 3,
    }
    found = event_dict(read_event(event(CLUSTER, **old)))
    assert (found["time"], found["count"]) == ("2027-01-15T07:00:00Z", 3)


def test_a_message_is_one_line_without_control_characters() -> None:
    assert read_event(event(CLUSTER, note="a\n b\x1b[31m")).message == "a b?[31m"


def test_an_event_is_followed_once_and_again_when_it_is_repeated() -> None:
    first, shown = read_event(event(CLUSTER)), set[tuple[str, str]]()
    again = first._replace(time="2027-01-15T09:00:00Z")
    assert new_events([first], shown) == [first]
    assert new_events([first], shown) == []
    assert new_events([again], shown) == [again]


def test_events_of_a_tenant_are_read_where_its_objects_are() -> None:
    [node] = find_nodes(trees(), "rows")
    assert other_namespaces([node], "shop") == []
    assert other_namespaces([node], "other") == ["shop"]


@pytest.mark.parametrize("arguments", [["banana/db"], ["mgc/"], ["db", "-w", "-o", "json"]])
def test_wrong_usage_is_reported_without_a_cluster(arguments: list[str]) -> None:
    assert CliRunner().invoke(steward, ["events", *arguments]).exit_code == 2


def test_watching_prints_a_table_and_then_each_new_event_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = read_event(event(CLUSTER)), read_event(event(SHARD))
    reads = iter([[first], [first, second], [first, second]])

    async def read(*_: object) -> list[ObjectEvent]:
        if (found := next(reads, None)) is None:
            raise click.ClickException("the end")
        return found

    monkeypatch.setattr(events, "_read", read)
    monkeypatch.setattr(events, "POLL_SECONDS", 0.0)
    config = tmp_path / "config"
    config.write_text(KUBECONFIG)
    done = CliRunner().invoke(steward, ["events", "-w", "--kubeconfig", str(config)])
    assert done.output.splitlines() == [
        "LAST SEEN             TYPE    OBJECT                    REASON  MESSAGE",
        "2027-01-15T08:00:00Z  Normal  MultigresCluster shop/db  R       n",
        "2027-01-15T08:00:00Z  Normal  Shard shop/db-0  R  n",
        "Error: the end",
    ]
