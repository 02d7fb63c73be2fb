from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.ignore_fields import ignored_places, owned_places, seeded, without
from steward.tenants.validation.template import advise_template
from tests.tenants.support.fleet import deployment, resource

APP = deployment("app", 2)
CONTAINERS = ("spec", "template", "spec", "containers")


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$.spec.replicas", [("spec", "replicas")]),
        ("$.spec.template.spec.containers[*].image", [(*CONTAINERS, 0, "image"), (*CONTAINERS, 1, "image")]),
        (
            "$.spec.template.spec.containers[?(@.name=='side')].image",
            [(*CONTAINERS, 1, "image")],
        ),
        ("$.spec.nothing.there", []),
        ("$.metadata.name", []),
        ("$.kind", []),
    ],
)
def test_each_match_is_a_place_by_itself(path: str, places: list[Any]) -> None:
    assert list(ignored_places(APP, [path])) == places


MARKED = {
    "labels": {"kubernetes-tenants.org/tenant": "acme", "kubernetes-tenants.org/tenant-namespace": "saas"},
    "annotations": {"kubernetes-tenants.org/deletion-policy": "Delete", "theirs": "1"},
    "ownerReferences": [{"uid": "1"}],
}


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$.metadata", []),
        ("$.metadata.*", [("metadata", "annotations", "theirs")]),
        ("$.metadata.namespace", []),
        ("$.metadata.ownerReferences[0].uid", []),
        ("$.metadata.labels['kubernetes-tenants.org/tenant']", []),
        ("$.metadata.annotations", [("metadata", "annotations", "theirs")]),
    ],
)
def test_who_an_object_is_and_whose_is_never_ignored(path: str, places: list[Any]) -> None:
    app = {**APP, "metadata": {"name": "app", "namespace": "saas", **MARKED}}
    assert list(ignored_places(app, [path])) == places


def test_inside_a_list_without_keys_the_whole_list_is_ignored() -> None:
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "web"},
        "spec": {"rules": [{"host": "a"}, {"host": "b"}]},
    }
    assert ignored_places(ingress, ["$.spec.rules[0].host"]) == (("spec", "rules"),)


def test_lists_of_custom_kinds_have_no_keys() -> None:
    custom = {
        "apiVersion": "example.org/v1",
        "kind": "App",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "x", "image": "y"}]},
    }
    assert ignored_places(custom, ["$.spec.containers[0].image"]) == (("spec", "containers"),)


def test_what_is_left_out_is_exactly_the_ignored() -> None:
    places = ignored_places(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    left = without(APP, places)
    assert "replicas" not in left["spec"]
    assert left["spec"]["template"]["spec"]["containers"] == [{"name": "app"}, {"name": "side"}]
    assert APP["spec"]["replicas"] == 2


def test_the_seed_holds_living_values_found_by_key_and_nothing_else() -> None:
    live = deployment("app", 7)
    live["spec"]["template"]["spec"]["containers"] = [
        {"name": "injected", "image": "mesh"},
        {"name": "side", "image": "side:9"},
        {"name": "app", "image": "app:9"},
    ]
    places = ignored_places(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    containers = [{"name": "app", "image": "app:9"}, {"name": "side", "image": "side:9"}]
    assert seeded(APP, live, places) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app"},
        "spec": {"replicas": 7, "template": {"spec": {"containers": containers}}},
    }


def test_owned_places_are_those_that_an_entry_names() -> None:
    places = ignored_places(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"side"}': {"f:image": {}}}}}}}
    assert owned_places(fields, APP, places) == ((*CONTAINERS, 1, "image"),)
    assert owned_places(None, APP, places) == ()
    assert owned_places({"f:spec": {}}, APP, places) == places


def test_advice_names_the_list_that_is_ignored_as_a_whole() -> None:
    rules = [{"host": "a"}]
    body = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": {"rules": rules}}
    ignoring = resource("web", body, ignoreFields=["$.spec.rules[0].host", "$.spec.rules"])
    spec = msgspec.convert({"registryId": "prod", "ingresses": [ignoring]}, TenantTemplateSpec)
    (advice,) = advise_template(spec)
    assert advice.field == "spec.ingresses[web].ignoreFields[0]"
    assert advice.message.endswith("ignored as a whole: spec.rules")
