"""What is known of a shard before anything is built for it: its place in the tree and the labels that follow."""

from collections.abc import Mapping
from typing import NamedTuple

from steward.multigres.api.shard import ShardSpec
from steward.multigres.names import ShardPath
from steward.multigres.objects.metadata import (
    DATABASE,
    NODE_REGION,
    NODE_ZONE,
    SHARD,
    TABLE_GROUP,
    Owner,
    cell_place,
    labels,
)
from steward.multigres.resolution.layers import given


class ShardBuild(NamedTuple):
    """One shard to build objects for. `certificates` names the Secret with ca.crt, tls.crt and tls.key."""

    owner: Owner
    path: ShardPath
    spec: ShardSpec
    password_secret: str
    password_key: str
    certificates: str
    config_digest: str = ""
    certificate_renewals: int = 0

    def place(self) -> dict[str, str]:
        return {DATABASE: self.path.database, TABLE_GROUP: self.path.table_group, SHARD: self.path.shard}

    def labels(self, component: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        return labels(self.path.cluster, component, {**self.place(), **(more or {})})

    def cell_labels(self, component: str, cell: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        nodes = self.nodes(cell)
        place = cell_place(cell, nodes.get(NODE_ZONE, ""), nodes.get(NODE_REGION, ""))
        return self.labels(component, {**place, **(more or {})})

    def nodes(self, cell: str) -> dict[str, str]:
        """Labels of the nodes on which pods of a cell run."""
        return given(self.spec.cell_topology_labels, {}).get(cell, {})

    def named(self, suffix: str) -> str:
        return f"{self.owner.name}-{suffix}"
