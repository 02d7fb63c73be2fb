"""Parses the command line of a pod into the data plane program that it runs. Pure.

A pod's cell, shard, host name and topology server are read from its flags only, as the binary would read them, so that
a wrong flag is noticed.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from steward.multigres.objects.metadata import POOL_LABEL
from steward.multigres.objects.repository.access import VOLUME
from steward.testkit.fake_data_plane.views import Container, PodView

POOLER, GATEWAY, ORCHESTRATOR = "multipooler", "multigateway", "multiorch"
COMPONENTS = (POOLER, GATEWAY, ORCHESTRATOR)
HOST_VARIABLE = "PGBACKREST_REPO1_HOST"
HOST_PREFIX = "host "


class Instance(NamedTuple):
    """A program: the name of its record, and the uid of its pod, which differs for the next pod of that name."""

    name: str
    uid: str


class ShardKey(NamedTuple):
    database: str
    table_group: str
    shard: str


class DataPlaneProgram(NamedTuple):
    """A binary with its flags, in the pod of this uid."""

    component: str
    uid: str
    pool: str
    is_ready: bool
    is_terminating: bool
    flags: Mapping[str, str]
    repository: str = ""
    """The host or the claim with the backups of a pooler; "" for an object store."""

    @property
    def cell(self) -> str:
        return self.flags["cell"]

    @property
    def service_id(self) -> str:
        return self.flags["service-id"]

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.flags["topo-global-server-addresses"].split(","))

    @property
    def root(self) -> str:
        return self.flags["topo-global-root"]

    @property
    def shard(self) -> ShardKey:
        return ShardKey(*(self.flags.get(name, "") for name in ("database", "table-group", "shard")))

    @property
    def record_name(self) -> str:
        return f"{self.component}-{self.cell}-{self.service_id}"

    @property
    def identity(self) -> Instance:
        return Instance(self.record_name, self.uid)


REQUIRED_FLAGS = ("cell", "service-id", "hostname", "topo-global-server-addresses", "topo-global-root")


def parse_program(pod: PodView) -> DataPlaneProgram | None:
    """None for pods that run no data plane program, or lack a flag without which the binary would not start."""
    for container in pod.spec.containers:
        if container.args and container.args[0] in COMPONENTS:
            flags = dict(_flags(container.args[1:], pod))
            if all(flags.get(name) for name in REQUIRED_FLAGS):
                return DataPlaneProgram(
                    container.args[0],
                    pod.metadata.uid,
                    pod.metadata.labels.get(POOL_LABEL, ""),
                    pod.is_ready,
                    pod.is_terminating,
                    flags,
                    _repository(pod, container),
                )
    return None


def _repository(pod: PodView, container: Container) -> str:
    """As pgBackRest finds it: a host in its environment, or else a directory."""
    host = next((each.value for each in container.env if each.name == HOST_VARIABLE), "")
    if host:
        return f"{HOST_PREFIX}{host}"
    claims = (each.persistent_volume_claim for each in pod.spec.volumes if each.name == VOLUME)
    return next((f"claim {claim.claim_name}" for claim in claims if claim is not None), "")


def _flags(arguments: tuple[str, ...], pod: PodView) -> Iterator[tuple[str, str]]:
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if equals:
            yield (
                name,
                value.replace("$(POD_NAME)", pod.metadata.name).replace("$(POD_IP)", pod.status.pod_ip),
            )
