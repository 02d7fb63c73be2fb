"""The objects of the sample."""

from typing import Any, cast

import pytest

from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.local.sample import objects
from steward.local.sample.objects import ContainerImage, Databases, SampleOptions


def objects_by_name(zones: tuple[str, ...]) -> dict[str, Any]:
    return {
        f"{item['kind']}/{item['metadata']['name']}": item for item in objects.objects(SampleOptions(zones))
    }


def test_the_cluster_has_a_cell_in_every_zone_and_manual_template_updates() -> None:
    cluster = objects_by_name(("z1", "z2", "z3"))["MultigresCluster/orders"]["spec"]
    assert cluster["cells"] == [{"zone": "z1"}, {"zone": "z2"}, {"zone": "z3"}]
    assert cluster["updatePolicy"] == {"templateChanges": "Manual"}


def test_one_of_two_templates_creates_a_database_for_a_row() -> None:
    found = objects_by_name(("a", "b"))
    templates = [item for item in found.values() if item["kind"] == "TenantTemplate"]
    assert [item["metadata"]["name"] for item in templates] == ["web", "database"]
    [manifest] = found["TenantTemplate/database"]["spec"]["manifests"]
    assert manifest["spec"]["kind"] == "MultigresCluster"
    assert manifest["spec"]["spec"]["cells"] == [{"zone": "a"}]


@pytest.mark.parametrize(
    ("zones", "cells"), [(("a",), 1), (("a", "a"), 1), (("a", "b"), 2), (tuple("abcdef"), 3)]
)
def test_the_cluster_has_at_most_three_cells(zones: tuple[str, ...], cells: int) -> None:
    assert len(objects_by_name(zones)["MultigresCluster/orders"]["spec"]["cells"]) == cells


@pytest.mark.parametrize(("zones", "replicas"), [(("a",), 3), (("a", "b"), 2), (("a", "b", "c"), 1)])
def test_the_cluster_has_enough_servers_to_keep_a_primary(zones: tuple[str, ...], replicas: int) -> None:
    pool = objects_by_name(zones)["ShardTemplate/standard"]["spec"]["pools"]["main"]
    assert pool["replicasPerCell"] == replicas


@pytest.mark.parametrize("zones", [("a",), ("a", "b", "c")])
def test_databases_of_customers_have_enough_servers_for_a_primary(zones: tuple[str, ...]) -> None:
    [pool] = objects_by_name(zones)["ShardTemplate/small"]["spec"]["pools"].values()
    assert pool["replicasPerCell"] == 2


def test_every_object_is_in_the_samples_namespace() -> None:
    assert {item["metadata"]["namespace"] for item in objects.objects(SampleOptions(("a",)))} == {
        objects.NAMESPACE
    }


def test_without_images_of_databases_the_sample_has_the_web_template_only() -> None:
    options = SampleOptions(("a",), databases=Databases.LEFT_OUT)
    found = [(item["kind"], item["metadata"]["name"]) for item in objects.objects(options)]
    assert found == [("TenantRegistry", "customers"), ("TenantTemplate", "web")]


def test_services_of_customers_reach_the_port_of_the_chosen_image() -> None:
    options = SampleOptions(("a",), ContainerImage("steward.local/workload:1", 8080))
    [web] = [item["spec"] for item in objects.objects(options) if item["metadata"]["name"] == "web"]
    [container] = web["deployments"][0]["spec"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "steward.local/workload:1"
    assert web["services"][0]["spec"]["spec"]["ports"] == [{"port": 80, "targetPort": 8080}]


class FakeNamespaces:
    """Answers with the metadata of the namespace, one after another; None for a namespace that is gone."""

    def __init__(self, *answers: dict[str, str] | None) -> None:
        self.answers = list(answers)

    async def get(self, *_: object) -> dict[str, Any]:
        metadata = self.answers.pop(0)
        if metadata is None:
            raise NotFound(404, "NotFound", "")
        return {"metadata": metadata}


async def test_a_namespace_that_is_being_deleted_is_waited_for() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    namespaces = FakeNamespaces(leaving, leaving, None)

    await objects.wait_until_deleted(cast(Client, namespaces))

    assert namespaces.answers == []


async def test_a_namespace_that_stays_is_not_waited_for() -> None:
    assert not await objects.is_terminating(cast(Client, FakeNamespaces({})))
