"""What is ignored is left to others also by `replace`: its value, its absence, and that only they have set it."""

from copy import deepcopy
from typing import Any

import pytest

from steward.tenants.objects.living import with_living
from tests.tenants.support.fleet import config_map, deployment

CONTAINERS = "$.spec.template.spec.containers"
SIZE = {"limits": {"memory": "1Gi"}}


def containers(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = manifest["spec"]["template"]["spec"]["containers"]
    return found


def test_living_values_are_kept() -> None:
    kept = with_living(deployment("app", 2), deployment("app", 9), ["$.spec.replicas"])
    assert kept == deployment("app", 9)


@pytest.mark.parametrize("paths", [["$.data.mode"], ["$.data"], ["$.data", "$.data.mode"]])
def test_what_others_took_away_stays_away(paths: list[str]) -> None:
    kept = with_living(config_map("a", mode="x", plan="y"), config_map("a", plan="y"), paths)
    assert kept["data"] == {"plan": "y"}


def test_what_only_others_have_set_stays() -> None:
    ours, live = config_map("a", plan="y"), config_map("a", plan="z", theirs="x", more="x")
    live["metadata"]["annotations"] = {"example.com/seen": "yes", "example.com/other": "no"}
    kept = with_living(ours, live, ["$.data.theirs", "$.metadata.annotations['example.com/seen']"])
    assert kept["data"] == {"plan": "y", "theirs": "x"}
    assert kept["metadata"]["annotations"] == {"example.com/seen": "yes"}


def test_items_of_a_list_are_found_by_their_keys() -> None:
    live = deployment("app")
    containers(live).reverse()
    containers(live)[0]["resources"] = SIZE
    containers(live).append({"name": "injected", "image": "i:1", "resources": SIZE})
    kept = containers(with_living(deployment("app"), live, [f"{CONTAINERS}[*].resources"]))
    assert [(each["name"], each.get("resources")) for each in kept] == [("app", None), ("side", SIZE)]


def test_an_item_that_is_ignored_itself_is_kept_although_the_template_does_not_know_it() -> None:
    live = deployment("app")
    injected = {"name": "injected", "image": "i:1"}
    containers(live).insert(0, injected)
    kept = with_living(deployment("app"), live, [f"{CONTAINERS}[?(@.name=='injected')]"])
    assert containers(kept) == [*containers(deployment("app")), injected]


def test_a_list_of_which_nothing_is_there_is_made() -> None:
    live = deployment("app")
    live["spec"]["template"]["spec"]["initContainers"] = [{"name": "init", "image": "i:1"}]
    path = "$.spec.template.spec.initContainers[*]"
    assert with_living(deployment("app"), live, [path]) == live


def test_nothing_given_is_changed() -> None:
    ours, live = deployment("app", 2), deployment("app", 9)
    before = deepcopy((ours, live))
    with_living(ours, live, ["$.spec.replicas", "$.spec.template"])
    assert (ours, live) == before
