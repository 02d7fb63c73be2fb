"""What the multigres operator uses where neither a cluster nor a template sets a field.

These defaults are resolved by the operator, level by level; they are not in the schema, where they would look like
values that the user chose.
"""

from typing import Any, Final

from steward.docgen.api import Defaults
from steward.multigres.api.backup import FilesystemBackup
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.compute import MultiGateway, MultiOrch, Pool, PvcDeletionPolicy, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.multigres_backup import MultigresBackupSpec
from steward.multigres.api.observability import LogLevels
from steward.multigres.api.topo import Etcd, TopologyReconciliation
from steward.multigres.api.updates import UpdatePolicy
from steward.multigres.resolution import defaults
from steward.multigres.resolution.inheritance import RETAIN


def _fields(struct: Any) -> dict[str, Any]:
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


MULTIGRES_DEFAULTS: Final[Defaults] = {
    Etcd: _fields(defaults.ETCD),
    MultiGateway: _fields(defaults.GATEWAY),
    MultiOrch: _fields(defaults.ORCHESTRATOR),
    Pool: _fields(defaults.POOL),
    Stateless: {"replicas": defaults.MULTIADMIN.replicas},
    Images: _fields(defaults.IMAGES),
    LogLevels: _fields(defaults.LOG_LEVELS),
    TopologyReconciliation: _fields(defaults.TOPOLOGY),
    FilesystemBackup: _fields(defaults.BACKUP.filesystem),
    MultigresClusterSpec: {"durability_policy": defaults.DURABILITY},
    MultigresBackupSpec: {
        "database": defaults.SYSTEM_DATABASE,
        "table_group": defaults.DEFAULT_TABLE_GROUP,
        "shard": defaults.DEFAULT_SHARD,
        "type": "full",
    },
    PvcDeletionPolicy: _fields(RETAIN),
    UpdatePolicy: {"template_changes": "Auto"},
}
