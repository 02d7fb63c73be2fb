"""All objects of one cluster, built as the controllers build them."""

from typing import Any

import msgspec

from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.names import ShardPath
from steward.multigres.objects import accounts, secrets
from steward.multigres.objects.metadata import Manifest, Owner
from steward.multigres.objects.tree import cluster_tree
from steward.multigres.objects.versions import NEWEST
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates

UID = "00000000-0000-0000-0000-000000000001"
NAME = "mini"
THREE_CELLS = [{"zone": "z1"}, {"zone": "z2"}, {"zone": "z3"}]


def build_tree(namespace: str = "example", version: int = NEWEST, **spec: Any) -> list[Manifest]:
    """All objects of a cluster with three cells, unless `spec` overrides them."""
    typed = msgspec.convert({"cells": THREE_CELLS, **spec}, MultigresClusterSpec)
    resolved = resolve(ClusterIdentity(namespace, NAME), typed, Templates({}, {}, {}))
    assert resolved.problems == ()
    return tree_of(typed, resolved, version)


def tree_of(spec: MultigresClusterSpec, resolved: ResolvedCluster, version: int = NEWEST) -> list[Manifest]:
    """The same for a resolved cluster."""
    owner = Owner("MultigresCluster", resolved.identity.namespace, NAME, UID)
    return [
        *cluster_tree(owner, spec, resolved, version),
        secrets.password_secret(owner, "secret"),
        *accounts.account_secrets(owner, "secret", accounts.RoleAccounts()),
    ]


def of_kind(tree: list[Manifest], kind: str) -> list[Manifest]:
    return [manifest for manifest in tree if manifest["kind"] == kind]


def pods(tree: list[Manifest]) -> list[Manifest]:
    return [manifest["spec"]["template"] for manifest in tree if "template" in manifest.get("spec", {})]


def containers(pod: Manifest) -> list[Manifest]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def pool_name(cell: str, pool_part: str = "default") -> str:
    return names.pool(ShardPath(NAME, "postgres", "default", "0-inf"), pool_part, cell)
