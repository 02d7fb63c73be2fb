"""Objects are found by KIND/NAME or by a unique name."""

import pytest

from steward.cli.inspect.fetch import other_namespaces
from steward.cli.inspect.find import NotFoundInTrees, find_node, parse_name
from steward.cli.inspect.object_tree import build_trees
from steward.cli.inspect.selection import missing_message
from steward.kube.objects.kinds import Key, Kind, Ref
from tests.cli.support.tree_objects import CLUSTER, READY, degraded, tree_object


def tenant(name: str, template: str, **status: object) -> dict[str, object]:
    found = tree_object(f"Tenant/{name}", **status)
    found["metadata"]["labels"] = {"kubernetes-tenants.org/registry": "crm"}
    return {**found, "spec": {"templateRef": template}}


TREES = build_trees(
    [
        tree_object(CLUSTER, conditions=READY),
        tree_object("Cell/db", CLUSTER, conditions=READY),
        tree_object("TenantRegistry/crm", conditions=READY),
        tree_object("TenantTemplate/web", conditions=degraded("1/2 Tenants are ready")),
        tenant("acme-web", "web", conditions=degraded("broken")),
        tenant("acme-db", "db", conditions=READY),
        tree_object("Deployment/same", "Tenant/acme-web"),
        tree_object("StatefulSet/same", "Tenant/acme-web"),
    ]
)


@pytest.mark.parametrize(
    ("what", "kind"),
    [("mgc/db", "MultigresCluster"), ("cell/db", "Cell"), ("db", "MultigresCluster"), ("acme-web", "Tenant")],
)
def test_a_name_alone_means_the_object_nearest_to_a_root(what: str, kind: str) -> None:
    assert find_node(TREES, what).object.ref.kind.kind == kind


def test_a_name_of_several_objects_is_an_error_that_names_them() -> None:
    with pytest.raises(NotFoundInTrees, match="deployment/same in shop, statefulset/same in shop"):
        find_node(TREES, "same")


def test_a_template_is_explained_by_its_tenants() -> None:
    node = find_node(TREES, "tenanttemplate/web")
    assert [child.object.ref.key.name for child in node.children] == ["acme-web"]


@pytest.mark.parametrize("what", ["secret/db", "/db", "cell/"])
def test_a_wrong_name_is_a_usage_error(what: str) -> None:
    with pytest.raises(ValueError, match=r"is not KIND/NAME|is not a kind that Steward shows"):
        parse_name(what)


def test_a_missing_object_is_named_where_it_is() -> None:
    elsewhere = [Ref(Kind("multigres.com/v1alpha1", "MultigresCluster"), Key("demo", "orders"))]
    assert missing_message("orders", "default", elsewhere) == (
        "there is no orders in namespace default, but demo/orders: steward why multigrescluster/orders -n demo"
    )
    assert missing_message("x", "default", []) == (
        "there is no x in namespace default; `steward tree -A` shows all"
    )


def test_tenants_name_the_namespaces_of_their_objects() -> None:
    applied = [{"namespace": "acme"}, {"namespace": "shop"}, {"name": "cluster-scoped"}]
    assert other_namespaces([tree_object("Tenant/a", applied=applied)], "shop") == {"acme"}
