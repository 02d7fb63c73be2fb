"""Topology servers: run by Steward (`etcd`), by somebody else (`external`), or described by a template."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.multigres.api.compute import PvcDeletionPolicy, Resources, Storage
from steward.multigres.api.scalars import (
    ATOMIC,
    UNSET,
    Address,
    Endpoint,
    Image,
    ObjectName,
    Part,
    Path,
    TemplateName,
    Unset,
)

EXACTLY_ONE = Cel("has(self.etcd) != has(self.external)", "give exactly one of etcd and external")


class Etcd(Part):
    """A topology server that Steward runs: an etcd cluster in a StatefulSet."""

    image: Image | Unset = UNSET
    """The etcd image."""
    replicas: Annotated[int, Meta(ge=1, le=9)] | Unset = UNSET
    """How many members: 1 for trying things out, 3 or 5 otherwise. Cannot change later."""
    storage: Storage | Unset = UNSET
    """The data volume of each member. Replaced as a whole."""
    resources: Resources | Unset = UNSET
    """Compute of the container. Replaced as a whole."""
    root_path: Path | Unset = UNSET
    """The key below which the topology is kept."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of the members' volumes. Inherits from the level above."""


class ExternalTopoServer(Part):
    """A topology server that somebody else runs."""

    endpoints: Annotated[list[Endpoint], Meta(min_length=1, max_length=20, extra_json_schema=ATOMIC)]
    """The client URLs of all members."""
    ca_secret: ObjectName | Unset = UNSET
    """A Secret whose `ca.crt` signs the servers' certificates."""
    client_cert_secret: ObjectName | Unset = UNSET
    """A Secret whose `tls.crt` and `tls.key` Steward and the data plane present."""
    root_path: Path | Unset = UNSET
    """The key below which the topology is kept. `/multigres/<namespace>/<cluster>/global` when left out."""


class GlobalTopoServer(Part):
    """The topology server of the whole cluster."""

    etcd: Etcd | Unset = UNSET
    """Run by Steward."""
    external: ExternalTopoServer | Unset = UNSET
    """Run by somebody else."""
    template_ref: TemplateName | Unset = UNSET
    """A CoreTemplate whose `globalTopoServer` section describes it."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of the members' volumes. Inherits from the cluster."""
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


class TemplatedTopoServer(Part):
    """The topology server that a CoreTemplate describes."""

    etcd: Etcd | Unset = UNSET
    """Run by Steward."""
    external: ExternalTopoServer | Unset = UNSET
    """Run by somebody else."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of the members' volumes."""
    rules: ClassVar = (EXACTLY_ONE,)


class LocalTopoServer(Part):
    """A cell's own topology server."""

    etcd: Etcd | Unset = UNSET
    """Run by Steward."""
    external: ExternalTopoServer | Unset = UNSET
    """Run by somebody else."""
    rules: ClassVar = (EXACTLY_ONE,)


class TopoReference(Part):
    """How a component reaches a topology server."""

    address: Address
    """Endpoints, joined by commas."""
    root_path: Path
    """The key below which the topology is kept."""
    implementation: Literal["etcd", "etcd2"]
    """The server's protocol; `etcd2` is another name for `etcd`."""
    ca_secret: ObjectName | Unset = UNSET
    """A Secret whose `ca.crt` signs the servers' certificates."""
    client_cert_secret: ObjectName | Unset = UNSET
    """A Secret whose `tls.crt` and `tls.key` clients present."""
