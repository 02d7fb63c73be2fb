"""Which program of the data plane a pod runs, by the command line that it was given. Pure.

The stand-in knows a pod's cell, shard, host name and topology server from its flags alone, as the binary would: a flag
that Steward got wrong shows here too.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from steward.multigres.objects.metadata import POOL
from steward.testkit.fake_data_plane.election import Instance
from steward.testkit.fake_data_plane.views import PodView

POOLER, GATEWAY, ORCHESTRATOR = "multipooler", "multigateway", "multiorch"
COMPONENTS = (POOLER, GATEWAY, ORCHESTRATOR)


class ShardKey(NamedTuple):
    database: str
    table_group: str
    shard: str


class Program(NamedTuple):
    """A binary with its flags, in the pod of this uid."""

    component: str
    uid: str
    pool: str
    is_ready: bool
    is_leaving: bool
    flags: Mapping[str, str]

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


NEEDED = ("cell", "service-id", "hostname", "topo-global-server-addresses", "topo-global-root")


def program_of(pod: PodView) -> Program | None:
    """None for pods that run nothing of ours, or that a binary would refuse to start for want of a flag."""
    for container in pod.spec.containers:
        if container.args and container.args[0] in COMPONENTS:
            flags = dict(_flags(container.args[1:], pod))
            if all(flags.get(name) for name in NEEDED):
                return Program(
                    container.args[0],
                    pod.metadata.uid,
                    pod.metadata.labels.get(POOL, ""),
                    pod.is_ready,
                    pod.is_leaving,
                    flags,
                )
    return None


def _flags(arguments: tuple[str, ...], pod: PodView) -> Iterator[tuple[str, str]]:
    for argument in arguments:
        name, equals, value = argument.removeprefix("--").partition("=")
        if equals:
            yield (
                name,
                value.replace("$(POD_NAME)", pod.metadata.name).replace("$(POD_IP)", pod.status.pod_ip),
            )
