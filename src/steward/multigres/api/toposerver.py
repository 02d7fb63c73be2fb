"""TopoServer: an etcd cluster that the operator runs, global or of one cell. Created by the operator, not by users."""

from typing import Annotated

from msgspec import Meta

from steward.kube.crd.schema import Column, CustomKind
from steward.multigres.api.compute import PvcDeletionPolicy, Resources, Storage
from steward.multigres.api.group import GROUP, VERSION, Metadata
from steward.multigres.api.scalars import (
    UNSET,
    ApiStruct,
    Image,
    LocationName,
    Path,
    Phase,
    PodVersion,
    PullPolicy,
    PullSecrets,
    Unset,
)
from steward.multigres.api.status import Conditions


class TopoServerSpec(ApiStruct):
    """Resolved spec: every value is final, nothing is inherited."""

    image: Image | Unset = UNSET
    """The etcd image."""
    replicas: Annotated[int, Meta(ge=1, le=9)] | Unset = UNSET
    """How many members."""
    storage: Storage | Unset = UNSET
    """The data volume of each member."""
    resources: Resources | Unset = UNSET
    """Compute of the container."""
    root_path: Path | Unset = UNSET
    """The key prefix of all topology records."""
    pvc_deletion_policy: PvcDeletionPolicy | Unset = UNSET
    """Whether the members' volumes are kept or deleted."""
    image_pull_policy: PullPolicy | Unset = UNSET
    """When nodes pull the image."""
    image_pull_secrets: PullSecrets | Unset = UNSET
    """Secrets to pull with."""
    zone: LocationName | Unset = UNSET
    """The zone of its cell; any zone when left out."""
    region: LocationName | Unset = UNSET
    """The region of its cell."""
    objects_version: PodVersion | Unset = UNSET
    """The version of the pods that the operator builds; 1 when left out."""


class TopoServerStatus(ApiStruct):
    """Observed state."""

    observed_generation: int | Unset = UNSET
    """The generation of the spec that this status describes."""
    conditions: Conditions | Unset = UNSET
    """Ready, Available, DeletionBlocked, SafeToDelete and more."""
    phase: Phase | Unset = UNSET
    """Summary in one word."""
    message: str | Unset = UNSET
    """Summary in one sentence."""
    client_service: str | Unset = UNSET
    """The Service that clients use."""
    peer_service: str | Unset = UNSET
    """The Service that members use for each other."""
    replicas: int | Unset = UNSET
    """How many members there are."""
    ready_replicas: int | Unset = UNSET
    """How many members are ready."""


class TopoServer(ApiStruct):
    """An etcd cluster that the operator runs. Read-only: change the MultigresCluster instead."""

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
