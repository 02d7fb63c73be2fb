"""Topology servers: run by the operator (`etcd`), run outside of it (`external`), or defined by a template."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.multigres.api.compute import PvcDeletionPolicy, Resources, Storage
from steward.multigres.api.scalars import (
    ATOMIC,
    UNSET,
    Address,
    ApiStruct,
    Endpoint,
    Image,
    ObjectName,
    Path,
    TemplateName,
    Unset,
)

EXACTLY_ONE = Cel("has(self.etcd) != has(self.external)", "give exactly one of etcd and external")


class Etcd(ApiStruct):
    """A topology server that the operator runs: an etcd cluster in a StatefulSet."""

    image: Image | Unset = UNSET
    """The etcd image."""
    replicas: Annotated[int, Meta(ge=1, le=9)] | Unset = UNSET
    """How many members: 1 for evaluation, 3 or 5 for production. Cannot change later."""
    storage: Storage | Unset = UNSET
    """The data volume of each member. Replaced as a whole."""
    resources: Resources | Unset = UNSET
    """Compute of the container. Replaced as a whole."""
    root_path: Path | Unset = UNSET
    """The key prefix of all topology records."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the members' volumes are kept or deleted. Inherits from the level above."""


class ExternalTopoServer(ApiStruct):
    """A topology server that is run outside of the operator."""

    endpoints: Annotated[list[Endpoint], Meta(min_length=1, max_length=20, extra_json_schema=ATOMIC)]
    """The client URLs of all members."""
    ca_secret: ObjectName | Unset = UNSET
    """A Secret whose `ca.crt` signs the servers' certificates."""
    client_cert_secret: ObjectName | Unset = UNSET
    """A Secret whose `tls.crt` and `tls.key` the operator and the data plane present."""
    root_path: Path | Unset = UNSET
    """The key prefix of all topology records. `/multigres/<namespace>/<cluster>/global` when left out."""


class GlobalTopoServer(ApiStruct):
    """The topology server of the whole cluster."""

    etcd: Etcd | Unset = UNSET
    """Run by the operator."""
    external: ExternalTopoServer | Unset = UNSET
    """Run outside of the operator."""
    template_ref: TemplateName | Unset = UNSET
    """A CoreTemplate whose `globalTopoServer` section defines it."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the members' volumes are kept or deleted. Inherits from the cluster."""
    rules: ClassVar = (
        Cel(
            "[has(self.etcd), has(self.external), has(self.templateRef)].filter(given, given).size() <= 1",
            "give at most one of etcd, external and templateRef",
        ),
        Cel(
            "!has(oldSelf.etcd) || !has(self.etcd) || !has(oldSelf.etcd.replicas) || !has(self.etcd.replicas)"
            " || self.etcd.replicas == oldSelf.etcd.replicas",
            "etcd.replicas cannot change: the members of a running etcd cluster are fixed",
            ".etcd.replicas",
        ),
    )


class TemplatedTopoServer(ApiStruct):
    """The topology server of a CoreTemplate."""

    etcd: Etcd | Unset = UNSET
    """Run by the operator."""
    external: ExternalTopoServer | Unset = UNSET
    """Run outside of the operator."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the members' volumes are kept or deleted."""
    rules: ClassVar = (EXACTLY_ONE,)


class LocalTopoServer(ApiStruct):
    """A cell's own topology server."""

    etcd: Etcd | Unset = UNSET
    """Run by the operator."""
    external: ExternalTopoServer | Unset = UNSET
    """Run outside of the operator."""
    rules: ClassVar = (EXACTLY_ONE,)


class TopologyReconciliation(ApiStruct):
    """What the operator does in the topology server."""

    register_cell: bool | Unset = UNSET
    """Write the records of cells, and delete them with their cells; true when left out. Without a record, gateways and
    servers of the cell do not start."""
    prune_tablets: bool | Unset = UNSET
    """Delete records of poolers whose pods no longer exist; true when left out."""


class TopoReference(ApiStruct):
    """How a component reaches a topology server."""

    address: Address
    """Endpoints, joined by commas."""
    root_path: Path
    """The key prefix of all topology records."""
    implementation: Literal["etcd", "etcd2"]
    """The server's protocol; `etcd2` is another name for `etcd`."""
    ca_secret: ObjectName | Unset = UNSET
    """A Secret whose `ca.crt` signs the servers' certificates."""
    client_cert_secret: ObjectName | Unset = UNSET
    """A Secret whose `tls.crt` and `tls.key` clients present."""
