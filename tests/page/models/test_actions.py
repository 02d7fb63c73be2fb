"""The actions that objects offer."""

from __future__ import annotations

from datetime import UTC, datetime

from steward.kube.objects.kinds import Manifest
from steward.page.models.actions import Action, available_actions
from steward.page.models.addresses import parse_address
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

NOW = datetime(2027, 1, 1, tzinfo=UTC)


def actions(view: str, *manifests: Manifest) -> dict[str, Action]:
    address = parse_address(view)
    assert address is not None
    return {each.id: each for each in available_actions(snapshot_of(*manifests), address, NOW)}


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
