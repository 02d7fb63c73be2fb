"""What the page keeps of the objects that it watches."""

from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Ref, ref_of
from steward.page.inventory.inventory import REGISTRY, TENANT
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import inventory_of


def test_a_removed_object_leaves_nothing() -> None:
    tenant, registry = sample.tenant("acme"), sample.registry()
    inventory = inventory_of(tenant, registry)
    inventory.remove(ref_of(tenant))
    inventory.remove(ref_of(registry))
    assert not inventory.objects
    assert not inventory.tenants
    assert inventory.manifest(REGISTRY, Key("shop", "customers")) is None


def test_a_tenants_spec_is_not_kept() -> None:
    inventory = inventory_of(sample.tenant("acme"))
    assert inventory.tenants[Key("shop", "acme-web")].uid == "acme"
    assert list(inventory.manifests(TENANT)) == []


def test_managed_fields_are_dropped() -> None:
    registry = sample.registry()
    registry["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2027-01-01T00:00:00Z"}]
    kept = inventory_of(registry).manifest(REGISTRY, Key("shop", "customers"))
    assert kept is not None
    assert "managedFields" not in kept["metadata"]


def test_of_a_pod_of_a_cluster_only_its_volume_claims_are_kept() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "pgdata"}}, {"name": "tmp"}]
    spec = {"volumes": volumes, "containers": [{"env": [{"name": "PASSWORD", "value": "x"}]}]}
    pod = sample.manifest(kinds.POD, "db-0", labels=sample.MANAGED, spec=spec, status={"podIP": "10.0.0.1"})
    kept = inventory_of(pod).manifest(kinds.POD, Key("shop", "db-0"))
    assert kept is not None
    assert (kept["spec"], kept["status"]) == ({"volumes": volumes[:1]}, {})


def test_a_pod_of_a_tenant_is_not_kept() -> None:
    pod = sample.manifest(kinds.POD, "app-0", labels={"kubernetes-tenants.org/tenant": "acme-web"})
    inventory = inventory_of(pod)
    assert inventory.manifest(kinds.POD, Key("shop", "app-0")) is None
    assert Ref(kinds.POD, Key("shop", "app-0")) in inventory.objects
