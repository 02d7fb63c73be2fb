"""Missing StorageClasses and Secrets of the user are reported by name."""

from typing import Any

import msgspec
import pytest

from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.external_refs import (
    IS_DEFAULT_CLASS,
    missing_storage_classes,
    referenced_secrets,
    referenced_storage_classes,
)
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates

FAST = Metadata(metadata=ObjectMeta(name="fast"))
DEFAULT = Metadata(metadata=ObjectMeta(name="standard", annotations={IS_DEFAULT_CLASS: "true"}))


def resolved(spec: dict[str, Any]) -> ResolvedCluster:
    return resolve(ClusterIdentity("shop", "mini"), typed(spec), Templates({}, {}, {}))


def typed(spec: dict[str, Any]) -> MultigresClusterSpec:
    return msgspec.convert({"cells": [{"zone": "z1"}], **spec}, MultigresClusterSpec)


def with_class(name: str) -> dict[str, Any]:
    return {"globalTopoServer": {"etcd": {"storage": {"size": "1Gi", "class": name}}}}


@pytest.mark.parametrize(
    ("spec", "present", "message"),
    [
        (with_class("fast"), [FAST, DEFAULT], ""),
        (
            with_class("gone"),
            [FAST, DEFAULT],
            "spec.globalTopoServer.etcd.storage: StorageClass gone does not exist",
        ),
        (
            {"cells": [{"zone": "z1", "spec": {"localTopoServer": with_class("gone")["globalTopoServer"]}}]},
            [FAST, DEFAULT],
            "spec.cells[0].spec.localTopoServer.etcd.storage: StorageClass gone does not exist",
        ),
        ({}, [DEFAULT], ""),
        ({}, [FAST], "the cluster has no default StorageClass"),
    ],
)
def test_a_storage_class_that_is_missing_is_named(
    spec: dict[str, Any], present: list[Metadata], message: str
) -> None:
    missing = missing_storage_classes(referenced_storage_classes(resolved(spec)), present)
    assert (message in missing[0].message) if message else missing == []


def test_secrets_are_those_of_an_external_etcd_and_the_password_but_never_s3_credentials() -> None:
    external = {"endpoints": ["https://etcd:2379"], "caSecret": "ca", "clientCertSecret": "client"}
    s3 = {"bucket": "b", "region": "r", "credentialsSecret": "keys"}
    spec = {
        "globalTopoServer": {"external": external},
        "postgresPasswordSecretRef": {"name": "pw"},
        "backup": {"type": "s3", "s3": s3},
    }
    assert set(referenced_secrets(typed(spec), resolved(spec))) == {"ca", "client", "pw"}


def test_secrets_of_a_cells_own_external_etcd_are_checked() -> None:
    external = {"endpoints": ["https://etcd:2379"], "caSecret": "ca", "clientCertSecret": "client"}
    spec = {"cells": [{"zone": "z1", "spec": {"localTopoServer": {"external": external}}}]}
    field = "spec.cells[0].spec.localTopoServer.external"
    assert referenced_secrets(typed(spec), resolved(spec)) == {
        "ca": f"{field}.caSecret",
        "client": f"{field}.clientCertSecret",
    }
