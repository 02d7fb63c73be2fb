"""Objects without a controller are recognized by their labels and the name that follows from them."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.kinds import (
    CONTROLLER_REVISION,
    DEPLOYMENT,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    REPLICA_SET,
    SECRET,
    STATEFUL_SET,
    Kind,
    Manifest,
    kind_of,
)
from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres.deletion.ownerless_objects import is_ownerless_part, ownerless_members
from steward.multigres.views import PodView
from tests.multigres.support.tree import NAME, build_tree

OWN_SERVER = {"localTopoServer": {"etcd": {"replicas": 1}}}
TREE = build_tree(cells=[{"zone": "z1"}, {"zone": "z2", "spec": OWN_SERVER}])
PASSWORD = f"{NAME}-postgres-password"
ENDING = [
    manifest
    for manifest in TREE
    if kind_of(manifest) != PERSISTENT_VOLUME_CLAIM and manifest["metadata"]["name"] != PASSWORD
]
CONTROLLER = OwnerReference("v1", "Thing", "other", "u", controller=True)


def metadata(manifest: Manifest, **changes: Any) -> ObjectMeta:
    found = {key: manifest["metadata"][key] for key in ("name", "namespace", "labels")}
    return msgspec.structs.replace(msgspec.convert(found, ObjectMeta), **changes)


def first(kind: Kind) -> Manifest:
    return next(manifest for manifest in TREE if kind_of(manifest) == kind)


@pytest.mark.parametrize("manifest", ENDING, ids=lambda each: f"{each['kind']}/{each['metadata']['name']}")
def test_every_object_that_the_operator_creates_belongs_to_its_cluster(manifest: Manifest) -> None:
    assert is_ownerless_part(kind_of(manifest), metadata(manifest), NAME)


@pytest.mark.parametrize(
    ("changes", "cluster"),
    [
        ({"name": "mine"}, NAME),
        ({"owner_references": (CONTROLLER,)}, NAME),
        ({}, "another"),
        ({"labels": {"multigres.com/cluster": NAME}}, NAME),
    ],
    ids=["another name", "another controller", "another cluster", "no label of the operator"],
)
@pytest.mark.parametrize("manifest", ENDING, ids=lambda each: each["kind"])
def test_other_objects_do_not_belong_to_the_cluster(
    manifest: Manifest, changes: dict[str, Any], cluster: str
) -> None:
    assert not is_ownerless_part(kind_of(manifest), metadata(manifest, **changes), cluster)


def test_the_password_outlives_the_cluster() -> None:
    secret = next(manifest for manifest in TREE if manifest["metadata"]["name"] == PASSWORD)
    assert not is_ownerless_part(SECRET, metadata(secret), NAME)


@pytest.mark.parametrize(
    ("kind", "owner", "suffix", "belongs"),
    [
        (POD, STATEFUL_SET, "-0", True),
        (POD, STATEFUL_SET, "-x", False),
        (POD, STATEFUL_SET, "", False),
        (POD, DEPLOYMENT, "-7d8f9-abcde", True),
        (REPLICA_SET, DEPLOYMENT, "-7d8f9", True),
        (REPLICA_SET, STATEFUL_SET, "-7d8f9", False),
        (CONTROLLER_REVISION, STATEFUL_SET, "-59f5f89886", True),
        (CONTROLLER_REVISION, DEPLOYMENT, "-59f5f89886", False),
    ],
)
def test_objects_of_controllers_have_the_name_of_their_workload_and_a_suffix(
    kind: Kind, owner: Kind, suffix: str, belongs: bool
) -> None:
    manifest = first(owner)
    meta = metadata(manifest, name=manifest["metadata"]["name"] + suffix)
    assert is_ownerless_part(kind, meta, NAME) is belongs


def test_members_of_a_set_are_those_without_a_controller() -> None:
    labels = {"app.kubernetes.io/managed-by": "multigres-operator"}
    pods = [
        PodView(ObjectMeta(name="etcd-0", labels=labels)),
        PodView(ObjectMeta(name="etcd-1", labels=labels, owner_references=(CONTROLLER,))),
        PodView(ObjectMeta(name="etcd-2")),
        PodView(ObjectMeta(name="etcd-other-0", labels=labels)),
    ]
    assert [pod.metadata.name for pod in ownerless_members(pods, "etcd")] == ["etcd-0"]
