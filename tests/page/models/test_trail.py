"""What an object belongs to."""

from steward.kube.objects.kinds import Key, Ref
from steward.page.inventory.inventory import TENANT
from steward.page.models.cluster import cluster_sections
from steward.page.models.trail import tenant_trail
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of

ACME = Ref(TENANT, Key("shop", "acme-web"))


def test_a_tenant_belongs_to_its_registry() -> None:
    (registry,) = tenant_trail(snapshot_of(sample.registry(), sample.tenant("acme")), ACME)
    assert (registry.kind, registry.href) == ("TenantRegistry", "/registry/shop/customers")


def test_a_tenant_without_the_label_of_a_registry_belongs_to_nothing() -> None:
    assert tenant_trail(snapshot_of(sample.tenant("acme", labels={})), ACME) == []


def test_a_cluster_of_a_tenant_belongs_to_the_registry_and_the_tenant() -> None:
    cluster = sample.cluster("acme-db")
    cluster["metadata"]["ownerReferences"] = [{"uid": "Tenant/acme-web", "controller": True}]
    found = cluster_sections(
        snapshot_of(sample.registry(), sample.tenant("acme"), cluster), Key("shop", "acme-db")
    )
    assert found is not None
    assert [each.href for each in found["head"].trail] == [
        "/registry/shop/customers",
        "/tenant/shop/acme-web",
    ]


def test_a_cluster_that_a_user_made_belongs_to_nothing() -> None:
    found = cluster_sections(snapshot_of(sample.cluster()), Key("shop", "db"))
    assert found is not None
    assert found["head"].trail == []
