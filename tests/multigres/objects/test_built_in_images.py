"""Images that users do not name follow the version of the pods."""

from typing import Any

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.images import Images, UsedImages
from steward.multigres.objects.built_in_images import (
    COMPONENTS,
    RELEASED,
    BuiltInImages,
    built_in_images,
    images_in_use,
    with_images_of,
)
from steward.multigres.objects.versions import FIRST, NEWEST
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from tests.multigres.support.tree import build_tree, containers, pods

EARLIER = BuiltInImages(FIRST, Images(**dict.fromkeys(COMPONENTS, "earlier:1")), "earlier-etcd:1")
LATER = BuiltInImages(3, defaults.IMAGES, defaults.ETCD_IMAGE)
PINNED = "example.com/pgctld:7"
OWN_ETCD = {"zone": "z1", "spec": {"localTopoServer": {"etcd": {"replicas": 1}}}}


def resolved_cluster(**spec: Any) -> tuple[MultigresClusterSpec, ResolvedCluster]:
    typed = msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)
    return typed, resolve(ClusterIdentity("shop", "mini"), typed, Templates({}, {}, {}))


def test_the_newest_version_has_the_images_that_resolution_uses() -> None:
    newest = built_in_images(NEWEST)
    assert (newest.images, newest.etcd) == (defaults.IMAGES, defaults.ETCD_IMAGE)
    assert [each.since for each in RELEASED] == sorted({each.since for each in RELEASED})
    assert RELEASED[0].since == FIRST


@pytest.mark.parametrize(("version", "expected"), [(1, EARLIER), (2, EARLIER), (3, LATER), (4, LATER)])
def test_a_version_keeps_its_images_until_the_next_that_changes_them(
    version: int, expected: BuiltInImages
) -> None:
    assert built_in_images(version, (EARLIER, LATER)) == expected


def test_a_cluster_of_an_earlier_version_runs_its_images_except_for_those_that_the_user_names() -> None:
    spec, resolved = resolved_cluster(images={"postgres": PINNED, "imagePullPolicy": "Always"})
    used = with_images_of(EARLIER, spec, resolved)
    assert used.images.postgres == PINNED
    assert used.images.image_pull_policy == "Always"
    others = [component for component in COMPONENTS if component != "postgres"]
    assert {getattr(used.images, component) for component in others} == {"earlier:1"}
    assert used.topo.etcd is not None
    assert used.topo.etcd.image == "earlier-etcd:1"


@pytest.mark.parametrize("image", [defaults.ETCD_IMAGE, "example.com/etcd:1"])
def test_an_image_of_etcd_that_the_user_names_stays(image: str) -> None:
    spec, resolved = resolved_cluster(globalTopoServer={"etcd": {"image": image}})
    used = with_images_of(EARLIER, spec, resolved)
    assert used.topo.etcd is not None
    assert used.topo.etcd.image == image


def test_an_external_topology_server_has_no_image() -> None:
    spec, resolved = resolved_cluster(globalTopoServer={"external": {"endpoints": ["http://etcd:2379"]}})
    assert with_images_of(EARLIER, spec, resolved).topo == resolved.topo
    assert "etcd" not in images_in_use(spec, resolved, NEWEST)


def test_pods_are_built_with_the_images_of_their_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "steward.multigres.objects.built_in_images.built_in_images.__defaults__", ((EARLIER, LATER),)
    )
    built = {
        container["image"]
        for pod in pods(build_tree(version=FIRST, images={"postgres": PINNED}, cells=[OWN_ETCD]))
        for container in containers(pod)
        if container["name"] != "postgres-exporter"
    }
    assert built == {"earlier:1", "earlier-etcd:1", PINNED}


def test_the_status_names_every_image_in_use() -> None:
    spec, resolved = resolved_cluster(images={"postgres": PINNED})
    used = images_in_use(spec, resolved, NEWEST)
    assert used["postgres"] == PINNED
    assert used["multigateway"] == defaults.IMAGES.multigateway
    assert used["etcd"] == defaults.ETCD_IMAGE
    fields = {field.encode_name for field in msgspec.structs.fields(UsedImages)}
    assert used.keys() == fields
