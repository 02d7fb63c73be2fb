"""The nine kinds: first those that users write, then those that the operator creates."""

from steward.kube.crd.schema import CustomKind
from steward.multigres.api import cell, cluster, multigres_backup, shard, tablegroup, toposerver
from steward.multigres.api.templates import cell_template, core_template, shard_template

CUSTOM_KINDS: tuple[CustomKind, ...] = (
    cluster.CUSTOM_KIND,
    multigres_backup.CUSTOM_KIND,
    core_template.CUSTOM_KIND,
    cell_template.CUSTOM_KIND,
    shard_template.CUSTOM_KIND,
    toposerver.CUSTOM_KIND,
    cell.CUSTOM_KIND,
    tablegroup.CUSTOM_KIND,
    shard.CUSTOM_KIND,
)
