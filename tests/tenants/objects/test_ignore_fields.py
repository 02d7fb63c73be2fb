from copy import deepcopy
from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.ignore_fields import (
    ignored_paths,
    owned_paths,
    seed_manifest,
    with_live_fields,
    without_fields,
)
from steward.tenants.validation.template import advise_template
from tests.tenants.support.fleet import config_map, deployment, resource

APP = deployment("app", 2)
CONTAINERS = ("spec", "template", "spec", "containers")


@pytest.mark.parametrize(
    ("path", "field_paths"),
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
def test_each_match_is_a_separate_path(path: str, field_paths: list[Any]) -> None:
    assert list(ignored_paths(APP, [path])) == field_paths


MARKED = {
    "labels": {"kubernetes-tenants.org/tenant": "acme", "kubernetes-tenants.org/tenant-namespace": "saas"},
    "annotations": {"kubernetes-tenants.org/deletion-policy": "Delete", "theirs": "1"},
    "ownerReferences": [{"uid": "1"}],
}


@pytest.mark.parametrize(
    ("path", "field_paths"),
    [
        ("$.metadata", []),
        ("$.metadata.*", [("metadata", "annotations", "theirs")]),
        ("$.metadata.namespace", []),
        ("$.metadata.ownerReferences[0].uid", []),
        ("$.metadata.labels['kubernetes-tenants.org/tenant']", []),
        ("$.metadata.annotations", [("metadata", "annotations", "theirs")]),
    ],
)
def test_identity_and_ownership_are_never_ignored(path: str, field_paths: list[Any]) -> None:
    app = {**APP, "metadata": {"name": "app", "namespace": "saas", **MARKED}}
    assert list(ignored_paths(app, [path])) == field_paths


def test_inside_a_list_without_keys_the_complete_list_is_ignored() -> None:
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "web"},
        "spec": {"rules": [{"host": "a"}, {"host": "b"}]},
    }
    assert ignored_paths(ingress, ["$.spec.rules[0].host"]) == (("spec", "rules"),)


def test_lists_of_custom_kinds_have_no_keys() -> None:
    custom = {
        "apiVersion": "example.org/v1",
        "kind": "App",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "x", "image": "y"}]},
    }
    assert ignored_paths(custom, ["$.spec.containers[0].image"]) == (("spec", "containers"),)


def test_exactly_the_ignored_fields_are_omitted() -> None:
    field_paths = ignored_paths(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    left = without_fields(APP, field_paths)
    assert "replicas" not in left["spec"]
    assert left["spec"]["template"]["spec"]["containers"] == [{"name": "app"}, {"name": "side"}]
    assert APP["spec"]["replicas"] == 2


def test_the_seed_contains_only_live_values_found_by_key() -> None:
    live = deployment("app", 7)
    live["spec"]["template"]["spec"]["containers"] = [
        {"name": "injected", "image": "mesh"},
        {"name": "side", "image": "side:9"},
        {"name": "app", "image": "app:9"},
    ]
    field_paths = ignored_paths(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    containers = [{"name": "app", "image": "app:9"}, {"name": "side", "image": "side:9"}]
    assert seed_manifest(APP, live, field_paths) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app"},
        "spec": {"replicas": 7, "template": {"spec": {"containers": containers}}},
    }


def test_owned_paths_are_those_that_an_entry_names() -> None:
    field_paths = ignored_paths(APP, ["$.spec.replicas", "$.spec.template.spec.containers[*].image"])
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"side"}': {"f:image": {}}}}}}}
    assert owned_paths(fields, APP, field_paths) == ((*CONTAINERS, 1, "image"),)
    assert owned_paths(None, APP, field_paths) == ()
    assert owned_paths({"f:spec": {}}, APP, field_paths) == field_paths


def test_advice_names_the_list_that_is_ignored_as_a_whole() -> None:
    rules = [{"host": "a"}]
    body = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": {"rules": rules}}
    ignoring = resource("web", body, ignoreFields=["$.spec.rules[0].host", "$.spec.rules"])
    spec = msgspec.convert({"registryId": "prod", "ingresses": [ignoring]}, TenantTemplateSpec)
    (advice,) = advise_template(spec)
    assert advice.field == "spec.ingresses[web].ignoreFields[0]"
    assert advice.message.endswith("ignored as a whole: spec.rules")


CONTAINERS_PATH = "$.spec.template.spec.containers"
SIZE = {"limits": {"memory": "1Gi"}}


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manifest["spec"]["template"]["spec"]["containers"]
    return found


def test_live_values_are_kept() -> None:
    kept = with_live_fields(deployment("app", 2), deployment("app", 9), ["$.spec.replicas"])
    assert kept == deployment("app", 9)


@pytest.mark.parametrize("paths", [["$.data.mode"], ["$.data"], ["$.data", "$.data.mode"]])
def test_fields_that_others_removed_stay_removed(paths: list[str]) -> None:
    kept = with_live_fields(config_map("a", mode="x", plan="y"), config_map("a", plan="y"), paths)
    assert kept["data"] == {"plan": "y"}


def test_fields_that_only_others_set_are_kept() -> None:
    ours, live = config_map("a", plan="y"), config_map("a", plan="z", theirs="x", more="x")
    live["metadata"]["annotations"] = {"example.com/seen": "yes", "example.com/other": "no"}
    kept = with_live_fields(ours, live, ["$.data.theirs", "$.metadata.annotations['example.com/seen']"])
    assert kept["data"] == {"plan": "y", "theirs": "x"}
    assert kept["metadata"]["annotations"] == {"example.com/seen": "yes"}


def test_items_of_a_list_are_found_by_their_keys() -> None:
    live = deployment("app")
    containers(live).reverse()
    containers(live)[0]["resources"] = SIZE
    containers(live).append({"name": "injected", "image": "i:1", "resources": SIZE})
    kept = containers(with_live_fields(deployment("app"), live, [f"{CONTAINERS_PATH}[*].resources"]))
    assert [(each["name"], each.get("resources")) for each in kept] == [("app", None), ("side", SIZE)]


def test_an_ignored_item_is_kept_although_the_template_does_not_have_it() -> None:
    live = deployment("app")
    injected = {"name": "injected", "image": "i:1"}
    containers(live).insert(0, injected)
    kept = with_live_fields(deployment("app"), live, [f"{CONTAINERS_PATH}[?(@.name=='injected')]"])
    assert containers(kept) == [*containers(deployment("app")), injected]


def test_a_missing_list_is_created() -> None:
    live = deployment("app")
    live["spec"]["template"]["spec"]["initContainers"] = [{"name": "init", "image": "i:1"}]
    path = "$.spec.template.spec.initContainers[*]"
    assert with_live_fields(deployment("app"), live, [path]) == live


def test_the_arguments_are_not_modified() -> None:
    ours, live = deployment("app", 2), deployment("app", 9)
    before = deepcopy((ours, live))
    with_live_fields(ours, live, ["$.spec.replicas", "$.spec.template"])
    assert (ours, live) == before
