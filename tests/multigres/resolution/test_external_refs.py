"""What a cluster names and does not bring itself is told by name, and never refused."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.shard_template import ShardTemplateSpec
from steward.multigres.resolution.external_refs import (
    IS_DEFAULT_CLASS,
    Missing,
    missing_classes,
    missing_secrets,
    reference_conditions,
    secrets,
    storage_classes,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import Identity, ResolvedCluster, Templates

FAST = Metadata(metadata=ObjectMeta(name="fast"))
DEFAULT = Metadata(metadata=ObjectMeta(name="standard", annotations={IS_DEFAULT_CLASS: "true"}))
NO_TEMPLATES = Templates({}, {}, {})


def resolved(spec: dict[str, Any], templates: Templates = NO_TEMPLATES) -> ResolvedCluster:
    return resolve(Identity("shop", "mini"), typed(spec), templates)


def typed(spec: dict[str, Any]) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)


def with_class(name: str) -> dict[str, Any]:
    return {"globalTopoServer": {"etcd": {"storage": {"size": "1Gi", "class": name}}}}


@pytest.mark.parametrize(
    ("spec", "present", "told"),
    [
        (with_class("fast"), [FAST, DEFAULT], ""),
        (
            with_class("gone"),
            [FAST, DEFAULT],
            "spec.globalTopoServer.etcd.storage: StorageClass gone does not exist",
        ),
        ({}, [DEFAULT], ""),
        ({}, [FAST], "the cluster has no default StorageClass"),
    ],
)
def test_a_storage_class_that_is_missing_is_named(
    spec: dict[str, Any], present: list[Metadata], told: str
) -> None:
    missing = missing_classes(storage_classes(resolved(spec)), present)
    assert (told in missing[0].message) if told else missing == []


def test_the_secrets_of_an_external_etcd_and_the_password_are_looked_for_and_credentials_never() -> None:
    external = {"endpoints": ["https://etcd:2379"], "caSecret": "ca", "clientCertSecret": "client"}
    s3 = {"bucket": "b", "region": "r", "credentialsSecret": "keys"}
    spec = {
        "globalTopoServer": {"external": external},
        "postgresPasswordSecretRef": {"name": "pw"},
        "backup": {"type": "s3", "s3": s3},
    }
    assert set(secrets(typed(spec), resolved(spec))) == {"ca", "client", "pw"}


def test_the_condition_tells_everything_that_is_missing_at_once() -> None:
    missing = [Missing(reasons.STORAGE_CLASS_NOT_FOUND, "a"), *missing_secrets({"pw": "spec.x"})]
    [condition] = reference_conditions(resolved({}), missing, 3)
    assert (condition.status, condition.reason) == ("False", reasons.STORAGE_CLASS_NOT_FOUND)
    assert condition.message == "a; spec.x: Secret pw does not exist; create it"


def test_a_placement_that_was_left_out_is_shown() -> None:
    template = msgspec.convert({"pools": {"main": {"cells": ["z1", "z9"]}}}, ShardTemplateSpec)
    cluster = resolved({}, Templates({}, {}, {"default": template}))
    _, skipped = reference_conditions(cluster, [], 1)
    assert (skipped.type, skipped.status) == ("PlacementsSkipped", "True")
    assert "pools[main].cells: a template asks for cell 'z9', which this cluster lacks" in skipped.message
