"""Resources, storage, pods and pools.

Every optional field is `T | Unset`: absent, zero and empty differ when levels merge, so no field has a schema
default. `resources` and `storage` are atomic: an override replaces the whole block.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta, field

from steward.kube.crd.schema import Cel
from steward.multigres.api.scalars import (
    ATOMIC,
    SET,
    UNSET,
    ApiStruct,
    CellName,
    CellNames,
    Duration,
    IpAddress,
    ObjectName,
    Percentage,
    PoolName,
    Quantity,
    Retention,
    Unset,
    Verbatim,
    VerbatimList,
)

Quantities = Annotated[dict[str, Quantity], Meta(max_length=20)]
Labels = Annotated[dict[str, Annotated[str, Meta(max_length=63)]], Meta(max_length=20)]
Annotations = Annotated[dict[str, Annotated[str, Meta(max_length=255)]], Meta(max_length=20)]


class Resources(ApiStruct):
    """Compute resources of one container. An override replaces the whole block."""

    requests: Quantities | Unset = UNSET
    """Minimum that the scheduler reserves, for example `cpu: 500m` and `memory: 1Gi`."""
    limits: Quantities | Unset = UNSET
    """Maximum that the container may use. Never below the requests."""
    claims: VerbatimList | Unset = UNSET
    """Resource claims of the pod that the container uses, as in a pod's spec."""


class Storage(ApiStruct):
    """Size and class of a volume. An override replaces the whole block."""

    size: Quantity | Unset = UNSET
    """Size, for example `10Gi`. It can grow but not shrink."""
    storage_class: Annotated[str, Meta(min_length=1, max_length=63)] | Unset = field(
        default=UNSET, name="class"
    )
    """The StorageClass. The default class of the Kubernetes cluster when left out."""
    access_modes: Annotated[list[str], Meta(max_length=4, extra_json_schema=ATOMIC)] | Unset = UNSET
    """How the volume is mounted; ReadWriteOnce when left out."""


class Autogrow(ApiStruct):
    """Growth of volumes that fill up."""

    max: Quantity
    """The size at which they stop growing."""
    at: Percentage | Unset = UNSET
    """How full the volume of a server is when all volumes of the pool grow; `80%` when left out."""
    by: Percentage | Unset = UNSET
    """How much they grow; `20%` when left out."""


class PoolStorage(Storage):
    """Size and class of the volumes of a pool. An override replaces the whole block."""

    autogrow: Autogrow | Unset = UNSET
    """Lets the volumes grow when they fill up. They do not grow when left out."""


class PvcDeletionPolicy(ApiStruct):
    """Whether volumes are kept or deleted. Each field inherits from the level above; Retain if no level sets it."""

    when_deleted: Retention | Unset = UNSET
    """When the cluster, shard or topology server is deleted: Retain keeps the volumes, Delete loses the data."""
    when_scaled: Retention | Unset = UNSET
    """When replicas are scaled down: Retain keeps the volumes of the removed pods, Delete loses them."""


class Stateless(ApiStruct):
    """A component without data. It may have any number of replicas, including none."""

    replicas: Annotated[int, Meta(ge=0, le=128)] | Unset = UNSET
    """How many pods. 0 stops the component and is not an error."""
    resources: Resources | Unset = UNSET
    """Compute of the container. Replaced as a whole."""
    affinity: Verbatim | Unset = UNSET
    """Affinity of the pods, as in a pod's spec. Replaces the default spread over zones and nodes."""
    tolerations: VerbatimList | Unset = UNSET
    """Tolerations of the pods, as in a pod's spec."""
    pod_annotations: Annotations | Unset = UNSET
    """Annotations added to the pods."""
    pod_labels: Labels | Unset = UNSET
    """Labels added to the pods. They never replace labels of the operator."""


class Buffering(ApiStruct):
    """Requests that gateways hold while a shard has no primary, and repeat when it has one again. Requests of open
    transactions are not held: their client gets an error."""

    enabled: bool | Unset = UNSET
    """Whether requests are held; true when left out."""
    window: Duration | Unset = UNSET
    """How long a request is held at most before it fails; 30s when left out. Not longer than maxFailoverDuration."""
    max_failover_duration: Duration | Unset = UNSET
    """How long requests of one failover are held; then all fail. 30s, or the window if longer, when left out."""
    min_time_between_failovers: Duration | Unset = UNSET
    """Requests are not held in this time after a failover; 1s when left out."""
    size: Annotated[int, Meta(ge=1, le=1_000_000)] | Unset = UNSET
    """How many requests each gateway holds; above it the oldest one fails. 1000 when left out."""


class MultiGateway(Stateless):
    """The gateways of a cell."""

    buffering: Buffering | Unset = UNSET
    """Requests that are held during a failover."""


class ExternalGateway(ApiStruct):
    """Access to the gateways from outside the Kubernetes cluster."""

    enabled: bool
    """Whether the Service is exposed."""
    external_ips: Annotated[list[IpAddress], Meta(max_length=10, extra_json_schema=SET)] | Unset = field(
        default=UNSET, name="externalIPs"
    )
    """Addresses at which nodes accept traffic. The Service gets type LoadBalancer when left out."""
    annotations: Annotated[dict[str, str], Meta(max_length=20)] | Unset = UNSET
    """Annotations of the Service, for the cloud's load balancer."""
    rules: ClassVar = (
        Cel(
            "!has(self.annotations) || self.annotations.all(k, !k.startsWith('multigres.com/'))",
            "annotations below multigres.com/ are Steward's own",
            ".annotations",
        ),
    )


class GatewayTls(ApiStruct):
    """TLS between clients and gateways."""

    enabled: bool
    """Whether gateways offer TLS. Clients that ask for none are accepted as well, unless it is required."""
    required: bool | Unset = UNSET
    """Whether gateways reject clients without TLS; false when left out."""
    secret_name: ObjectName | Unset = UNSET
    """Your own Secret with `tls.crt`, `tls.key` and, unless clients trust its authority anyway, `ca.crt`. The operator
    makes a certificate for the names of the Service when left out."""
    rules: ClassVar = (
        Cel(
            "self.enabled || !has(self.required) || !self.required",
            "TLS that is required must be enabled",
            ".required",
        ),
    )


class MultiOrch(Stateless):
    """The orchestrator of a shard: one Deployment in each of its cells."""

    cells: CellNames | Unset = UNSET
    """In which cells it runs. All cells that hold a pool of the shard when empty or left out."""


class Pool(ApiStruct):
    """Postgres servers with the same settings: one StatefulSet in each of its cells."""

    type: Literal["readWrite", "readOnly"] | Unset = UNSET
    """What the pool is meant for. Multigres does not know the difference yet: the servers of a readOnly pool confirm
    writes and may become primary, and Steward treats both types alike."""
    cells: CellNames | Unset = UNSET
    """In which cells the pool runs. All cells of the cluster when empty or left out."""
    cell: CellName | Unset = UNSET
    """Old spelling of `cells` with one entry; read with a warning."""
    replicas_per_cell: Annotated[int, Meta(ge=0, le=32)] | Unset = UNSET
    """How many Postgres servers in each cell. 0 stops the pool; the deletion policy decides about its volumes."""
    replicas: Annotated[int, Meta(ge=0, le=32)] | Unset = UNSET
    """Old spelling of `replicasPerCell`; read with a warning."""
    storage: PoolStorage | Unset = UNSET
    """The data volume of each server. Replaced as a whole."""
    postgres: Resources | Unset = UNSET
    """Compute of the Postgres container. Replaced as a whole."""
    multipooler: Resources | Unset = UNSET
    """Compute of the multipooler container. Replaced as a whole."""
    affinity: Verbatim | Unset = UNSET
    """Affinity of the pods, as in a pod's spec. Replaces the default spread over zones and nodes."""
    tolerations: VerbatimList | Unset = UNSET
    """Tolerations of the pods, as in a pod's spec."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether this pool's volumes are kept or deleted. Inherits from the shard."""


Pools = Annotated[dict[PoolName, Pool], Meta(max_length=8)]
