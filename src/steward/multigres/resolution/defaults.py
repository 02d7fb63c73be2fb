"""Built-in defaults: the fourth level of resolution.

Containers have memory limits and no CPU limits: throttling makes a database slow without a benefit, while a database
without a memory limit can take its node down.
"""

from typing import Final

from steward.multigres.api.backup import Backup, FilesystemBackup
from steward.multigres.api.compute import (
    MultiGateway,
    MultiOrch,
    Pool,
    PoolStorage,
    Resources,
    Stateless,
    Storage,
)
from steward.multigres.api.images import Images
from steward.multigres.api.observability import LogLevels
from steward.multigres.api.topo import Etcd, TopologyReconciliation

DEFAULT_TEMPLATE = "default"
SYSTEM_DATABASE = "postgres"
DEFAULT_TABLE_GROUP = "default"
DEFAULT_SHARD = "0-inf"
DEFAULT_POOL = "default"
GLOBAL_ROOT = "/multigres/global"
ETCD_CLIENT_PORT = 2379
DURABILITY: Final = "AT_LEAST_2"
SUPERUSER = "postgres"

IMAGES = Images(
    image_pull_policy="IfNotPresent",
    multigateway="ghcr.io/multigres/multigres:sha-66d2310",
    multiorch="ghcr.io/multigres/multigres:sha-66d2310",
    multipooler="ghcr.io/multigres/multigres:sha-66d2310",
    multiadmin="ghcr.io/multigres/multigres:sha-66d2310",
    multiadmin_web="ghcr.io/multigres/multiadmin-web:sha-64da1ab",
    postgres="ghcr.io/multigres/pgctld:sha-66d2310",
)
ETCD_IMAGE = "gcr.io/etcd-development/etcd:v3.6.7"


def _compute(cpu: str, memory: str, memory_limit: str) -> Resources:
    return Resources(requests={"cpu": cpu, "memory": memory}, limits={"memory": memory_limit})


ETCD = Etcd(
    image=ETCD_IMAGE,
    replicas=3,
    storage=Storage(size="1Gi"),
    resources=_compute("100m", "256Mi", "512Mi"),
)
MULTIADMIN = Stateless(replicas=1, resources=_compute("100m", "128Mi", "256Mi"))
MULTIADMIN_WEB = Stateless(replicas=1, resources=_compute("50m", "64Mi", "128Mi"))
GATEWAY = MultiGateway(replicas=1, resources=_compute("100m", "128Mi", "256Mi"))
ORCHESTRATOR = MultiOrch(replicas=1, resources=_compute("50m", "64Mi", "128Mi"))
POOL_REPLICAS = 3
POOL = Pool(
    type="readWrite",
    replicas_per_cell=POOL_REPLICAS,
    storage=PoolStorage(size="1Gi"),
    postgres=_compute("100m", "256Mi", "512Mi"),
    multipooler=_compute("100m", "128Mi", "256Mi"),
)
BACKUP = Backup(type="filesystem", filesystem=FilesystemBackup(path="/backups", storage=Storage(size="10Gi")))
TOPOLOGY = TopologyReconciliation(register_cell=True, prune_tablets=True)
LOG_LEVELS = LogLevels(
    pgctld="info", multipooler="info", multiorch="info", multiadmin="info", multigateway="info"
)
