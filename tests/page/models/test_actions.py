"""The actions that objects offer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from steward.kube.objects.kinds import Manifest
from steward.page.models.actions import Action, available_actions
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def actions(view: str, *manifests: Manifest, now: datetime = NOW) -> dict[str, Action]:
    address = parse_address(view)
    assert address is not None
    return {each.id: each for each in available_actions(snapshot_of(*manifests), address, now)}


def test_a_held_deletion_is_approved_by_its_own_digest_after_typing_the_name() -> None:
    found = actions("/registry/shop/customers", sample.held_registry())["approve TenantRegistry/customers"]
    assert found.patch is not None
    assert found.patch.changes["metadata"] == {
        "resourceVersion": "1",
        "annotations": {"kubernetes-tenants.org/approve-deletion": "12-0f3c"},
    }
    assert (found.typed, found.command) == (
        "customers",
        "steward hold approve tenantregistry/customers -n shop",
    )


def test_another_set_of_tenants_is_another_action() -> None:
    one, other = (
        actions("/registry/shop/customers", sample.held_registry(count))["approve TenantRegistry/customers"]
        for count in (12, 13)
    )
    assert one.digest != other.digest


def test_a_status_that_is_written_meanwhile_changes_nothing() -> None:
    later = sample.held_registry()
    later["metadata"]["resourceVersion"] = "2"
    one, other = (
        actions("/registry/shop/customers", registry)["approve TenantRegistry/customers"]
        for registry in (sample.held_registry(), later)
    )
    assert one.digest == other.digest


def test_a_deletion_that_cannot_be_approved_is_not_offered() -> None:
    registry = sample.held_registry()
    registry["status"]["heldDeletion"]["approveWith"] = ""
    assert "approve TenantRegistry/customers" not in actions("/registry/shop/customers", registry)


def test_a_paused_object_can_be_resumed_and_others_paused() -> None:
    cluster = sample.cluster(spec={"paused": True})
    resume = actions("/cluster/shop/db", cluster)["resume MultigresCluster/db"]
    assert resume.patch is not None
    assert resume.patch.changes["spec"] == {"paused": None}
    assert "pause MultigresCluster/db" in actions("/cluster/shop/db", sample.cluster())
    assert "pause Tenant/acme-web" in actions("/tenant/shop/acme-web", sample.tenant("acme"))


def test_pause_and_resume_are_the_commands_of_the_same_name() -> None:
    paused = sample.cluster(spec={"paused": True})
    resume = actions("/cluster/shop/db", paused)["resume MultigresCluster/db"]
    pause = actions("/cluster/shop/db", sample.cluster())["pause MultigresCluster/db"]
    assert resume.command == "steward resume multigrescluster/db -n shop"
    assert pause.command == "steward pause multigrescluster/db -n shop"
    assert pause.text.startswith("Keep the operator from changing anything")


def test_the_table_of_a_registry_can_be_read_now() -> None:
    sync = actions("/registry/shop/customers", sample.registry())["sync"]
    assert sync.patch is not None
    assert sync.patch.changes == {
        "metadata": {"annotations": {"kubernetes-tenants.org/sync-request": "2027-01-01T00:00:00.000000Z"}}
    }
    assert sync.command == "steward sync customers -n shop"


def test_the_table_of_a_paused_registry_is_not_read() -> None:
    registry = sample.registry()
    registry["spec"]["paused"] = True
    assert "sync" not in actions("/registry/shop/customers", registry)


def test_a_pool_of_a_shard_can_be_restarted() -> None:
    restart = actions("/cluster/shop/db", sample.cluster(), *sample.shards())[
        "restart postgres/default/0-8 main"
    ]
    assert restart.patch is not None
    assert restart.patch.changes["metadata"] == {
        "resourceVersion": "1",
        "annotations": {"restart.multigres.com/main": "2027-01-01T00:00:00Z"},
    }
    assert restart.command == "steward restart db --pool main --shard postgres/default/0-8 -n shop"
    assert restart.text == "Restarts 3 servers of pool main of shard postgres/default/0-8, one at a time."
    assert restart.about == "postgres/default/0-8"


def test_pools_without_servers_are_not_restarted() -> None:
    (shard, *_) = sample.shards()
    shard["spec"]["pools"]["main"]["replicasPerCell"] = 0
    assert "restart postgres/default/0-8 main" not in actions("/cluster/shop/db", sample.cluster(), shard)


def test_servers_of_a_paused_cluster_are_neither_restarted_nor_switched() -> None:
    paused = sample.cluster(spec={"paused": True})
    found = actions("/cluster/shop/db", paused, *sample.shards())
    assert set(found) == {"resume MultigresCluster/db", "backup"}


def test_time_that_passes_before_the_confirmation_is_no_other_action() -> None:
    objects = (sample.cluster(), *sample.shards())
    one, other = (
        actions("/cluster/shop/db", *objects, now=now)["restart postgres/default/0-8 main"]
        for now in (NOW, NOW + timedelta(minutes=5))
    )
    assert one.digest == other.digest
    assert one.patch != other.patch


def test_actions_on_parts_name_the_part() -> None:
    held = sample.held_registry()
    found = actions("/registry/shop/customers", held, sample.template("web"))
    assert found["pause TenantTemplate/web"].about == "web"
    assert found["pause TenantRegistry/customers"].about == ""
    shorts = {each.short or each.label for each in found.values()}
    assert shorts == {"Approve the deletion", "Pause", "Sync now"}
    assert all((each.short or each.label) in each.label for each in found.values())


def test_the_primary_of_each_shard_can_be_switched() -> None:
    found = actions("/cluster/shop/db", sample.cluster(), *sample.shards())
    switch = found["switch postgres/default/0-8"]
    assert switch.ref.kind.kind == "Shard"
    assert switch.command == "steward switchover db --shard postgres/default/0-8 -n shop"


def test_a_primary_without_a_ready_standby_is_not_switched() -> None:
    servers = [sample.server("db-0", "zone-a", role="Primary"), sample.server("db-1", "zone-b", "Down")]
    found = actions("/cluster/shop/db", sample.cluster(), sample.shard("0-inf", servers))
    assert not [each for each in found if each.startswith("switch")]


def test_a_backup_is_made_of_every_shard() -> None:
    backup = actions("/cluster/shop/db", sample.cluster(), *sample.shards())["backup"]
    assert [each["spec"]["shard"] for each in backup.creates] == ["0-8", "8-inf"]
    assert backup.verb == "create"


def test_a_waiting_update_can_be_applied() -> None:
    cluster = sample.cluster()
    cluster["status"]["conditions"] = [sample.condition("TemplateUpdateAvailable", "True", "it waits")]
    found = actions("/cluster/shop/db", cluster)["apply-update"]
    assert found.patch is not None
    assert found.patch.changes["metadata"]["annotations"] == {"multigres.com/apply-template-update": "true"}


def test_the_view_now_offers_nothing() -> None:
    assert actions("/now", *sample.sample()) == {}
