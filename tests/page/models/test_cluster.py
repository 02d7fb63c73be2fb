"""The view of a MultigresCluster."""

from typing import Any

from steward.kube.objects.kinds import Key, Manifest
from steward.multigres.cache_rules import SHARD_TEMPLATE
from steward.page.models.cluster import cluster_sections
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

DB = Key("shop", "db")


def sections(*manifests: Manifest) -> dict[str, Any]:
    found = cluster_sections(snapshot_of(*manifests), DB)
    assert found is not None
    return found


def test_there_is_no_view_of_a_missing_cluster() -> None:
    assert cluster_sections(snapshot_of(sample.registry()), DB) is None


def test_servers_are_shown_by_shard_and_cell() -> None:
    grid = sections(sample.cluster(), *sample.shards())["grid"]
    assert grid.cells == ["zone-a", "zone-b", "zone-c"]
    assert [row.shard for row in grid.rows] == ["postgres/default/0-8", "postgres/default/8-inf"]
    assert [[server.role for server in cell] for cell in grid.rows[0].cells] == [
        ["Primary"],
        ["Standby"],
        ["Standby"],
    ]


def test_a_server_that_is_down_has_failed_and_one_that_lags_waits() -> None:
    servers = [
        sample.server("db-0", "zone-a", role="Primary"),
        sample.server("db-1", "zone-b", "NotStreaming"),
        sample.server("db-2", "zone-c", "Down"),
    ]
    (row,) = sections(sample.cluster(), sample.shard("0-inf", servers))["grid"].rows
    assert [cell[0].health for cell in row.cells] == ["ready", "waiting", "failed"]
    assert row.health == "waiting"


def test_shards_of_another_cluster_are_left_out() -> None:
    other = sample.shard("0-inf", [sample.server("x", "zone-z")])
    other["metadata"]["labels"] = {**sample.MANAGED, "multigres.com/cluster": "other"}
    assert sections(sample.cluster(), other)["grid"].rows == []


def test_the_connection_secret_is_shown_by_name() -> None:
    head = sections(sample.cluster())["head"]
    assert (head.connection_secret, head.endpoint) == ("db-connection", "db-multigateway.shop.svc:5432")


def test_volumes_show_what_was_asked_for_and_what_is_there() -> None:
    claims = sections(sample.cluster(), *sample.claims())["volumes"]["claims"]
    assert [(each["claim"], each["asked"], each["had"]) for each in claims][1] == (
        "pgdata-zone-b-0",
        "10Gi",
        "5Gi",
    )


def test_backups_show_the_last_one_of_each_shard_and_the_requested_ones() -> None:
    found = sections(sample.cluster(), *sample.shards(), sample.backup())["backups"]
    assert [(each.last_age, each.count) for each in found["shards"]] == [("2 h", 5), ("2 h", 5)]
    assert [each.phase for each in found["requested"]] == ["Completed"]


def test_a_waiting_template_is_shown_as_a_diff() -> None:
    updates = sections(*sample.waiting_update())["updates"]
    assert updates.is_waiting
    assert "+multiorch.replicas: 3" in updates.diffs[0].lines
    assert updates.revisions[0]["isActive"]


def test_the_timeline_has_events_and_transitions_newest_first() -> None:
    cluster, (first, second) = sample.cluster(), sample.shards()
    for age, manifest in ((10, first), (20, cluster), (30, second)):
        manifest["status"]["conditions"] = [
            {**sample.condition("Ready", "True"), "lastTransitionTime": sample.ago(age)}
        ]
    found = cluster_sections(snapshot_of(cluster, first, second), DB)
    assert found is not None
    assert [moment.name for moment in found["timeline"]] == [
        "db-postgres-default-0-8",
        "db",
        "db-postgres-default-8-inf",
    ]


def test_certificates_are_shown_of_gateways_and_by_shard() -> None:
    lines = sections(sample.cluster(), *sample.shards())["certificates"]
    assert [line.used_by for line in lines] == ["gateways", "postgres/default/0-8", "postgres/default/8-inf"]


def test_a_template_without_a_stored_revision_has_no_diff() -> None:
    template = sample.manifest(SHARD_TEMPLATE, "standard", spec={"pools": {}})
    updates = sections(sample.cluster(), template)["updates"]
    assert (updates.is_waiting, updates.diffs) == (False, [])
