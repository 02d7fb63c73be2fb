"""TopoServer: an etcd cluster that Steward runs, global or of one cell. Made by Steward, never by hand."""

from typing import Annotated

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.multigres.api.compute import PvcDeletionPolicy, Resources, Storage
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import (
    UNSET,
    Image,
    Part,
    Path,
    Phase,
    Place,
    PullPolicy,
    PullSecrets,
    Unset,
)
from steward.multigres.api.status import Conditions


class TopoServerSpec(Part):
    """Resolved: nothing is inherited any more."""

    image: Image | Unset = UNSET
    """The etcd image."""
    replicas: Annotated[int, Meta(ge=1, le=9)] | Unset = UNSET
    """How many members."""
    storage: Storage | Unset = UNSET
    """The data volume of each member."""
    resources: Resources | Unset = UNSET
    """Compute of the container."""
    root_path: Path | Unset = UNSET
    """The key below which the topology is kept."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """What becomes of the members' volumes."""
    image_pull_policy: PullPolicy | Unset = UNSET
    """When nodes pull the image."""
    image_pull_secrets: PullSecrets | Unset = UNSET
    """Secrets to pull with."""
    zone: Place | Unset = UNSET
    """The zone of the cell that it serves; any zone when left out."""
    region: Place | Unset = UNSET
    """The region of the cell that it serves."""


class TopoServerStatus(Part):
    """What is."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status speaks of."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, DeletionBlocked, SafeToDelete and more."""
    phase: Phase | Unset = UNSET
    """All in one word."""
    message: str | Unset = UNSET
    """All in one sentence."""
    client_service: str | Unset = UNSET
    """The Service that clients use."""
    peer_service: str | Unset = UNSET
    """The Service that members use among themselves."""
    replicas: int | Unset = UNSET
    """How many members there are."""
    ready_replicas: int | Unset = UNSET
    """How many members are ready."""


class TopoServer(Part):
    """An etcd cluster that Steward runs. Read-only: change the MultigresCluster instead."""

    metadata: Metadata
    spec: TopoServerSpec
    status: TopoServerStatus | Unset = UNSET


CUSTOM_KIND = CustomKind(
    GROUP,
    VERSION,
    "TopoServer",
    "toposervers",
    TopoServer,
    short_names=("tps",),
    columns=(
        Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
        Column("Phase", ".status.phase"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    ),
)
