"""`steward doctor` names the templates whose objects the default flags refuse."""

from typing import Any

import msgspec

from steward.cli.doctor.checks import Grade
from steward.cli.doctor.templates import ClusterState, check_access
from steward.kube.objects.kinds import NAMESPACE, Key
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.tenant import TenantSpec
from steward.tenants.labels import ALLOW_TEMPLATES_FROM, TENANT, TENANT_NAMESPACE
from steward.tenants.objects.permissions import Permissions
from steward.tenants.views import Template
from tests.tenants.support.fleet import config_map, namespace_manifest, resource
from tests.tenants.support.manifests import resource as row_resource
from tests.tenants.support.manifests import template

FLAGS = Permissions(operator_namespace="steward-system")
STATE = ClusterState(
    {
        "acme-space": {TENANT: "acme", TENANT_NAMESPACE: "shop"},
        "open": {ALLOW_TEMPLATES_FROM: "shop"},
        "closed": {},
    },
    {},
    {Key("shop", "acme"): "web", Key("shop", "bolt"): "web"},
    frozenset({NAMESPACE}),
)


def tenant(*namespaces: str, **spec: Any) -> TenantSpec:
    objects = [resource(name, config_map("a", name)) for name in namespaces]
    whole = {"uid": "a", "templateRef": "web", "templateGeneration": 1, "configMaps": objects, **spec}
    return msgspec.convert(whole, TenantSpec)


def stored(name: str, **spec: Any) -> Template:
    return Template(ObjectMeta(name=name, namespace="shop"), template(name, **spec)["spec"])


def test_tenants_within_reach_are_fine() -> None:
    created = [resource("space", namespace_manifest("new"))]
    tenants = {
        Key("shop", "acme"): tenant("shop", "acme-space", "open"),
        Key("shop", "bolt"): tenant("acme-space", "new", namespaces=created),
        Key("shop", "cog"): tenant("closed", serviceAccountName="deployer"),
    }
    (result,) = check_access([stored("web")], tenants, STATE, FLAGS)
    assert (result.grade, result.message) == (Grade.FINE, "the objects of all 3 Tenants may be written")


def test_a_template_is_named_once_with_the_number_of_its_tenants_and_the_cure() -> None:
    tenants = {
        Key("shop", "acme"): tenant("closed"),
        Key("shop", "bolt"): tenant("shop", "closed"),
        Key("shop", "cog"): tenant("shop"),
        Key("mart", "dot"): tenant("kube-system", serviceAccountName="root"),
    }
    mart, shop = check_access([stored("web")], tenants, STATE, FLAGS)
    assert (shop.grade, shop.subject) == (Grade.WARNING, "template shop/web")
    assert shop.message.startswith("2 of its Tenants have an object that templates may not write: ConfigMap")
    assert "allow-templates-from=shop" in shop.message
    assert "serviceAccountName" in shop.cure
    assert "--template-scope=cluster" in shop.cure
    assert mart.subject == "template mart/web"
    assert "one of its Tenants has an object" in mart.message


def test_a_template_without_tenants_is_judged_by_its_text() -> None:
    open_template = stored("fine")
    closed = stored("closed", configMaps=[row_resource("c", targetNamespace="closed")])
    (result,) = check_access([open_template, closed], {}, STATE, FLAGS)
    assert (result.grade, result.subject) == (Grade.WARNING, "template shop/closed")
    assert "spec.configMaps[c].targetNamespace" in result.message
