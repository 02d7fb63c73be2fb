"""Makes what a cluster with containers needs on the machine, and removes it.

`clean` works from the record and from fixed names, not from living processes: it leaves nothing after kill -9 of
everything, and does no harm after a reboot.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.machine import cgroups, leftovers, preconditions, record, sysctls
from steward.local.containers.machine.facts import read_machine, read_network
from steward.local.containers.machine.iptables import Iptables
from steward.local.containers.machine.record import MachineRecord
from steward.local.containers.names import BRIDGE, OWNER_FILE, PRIVATE_DIRECTORIES, RUN, SERVICE_RANGE
from steward.local.containers.network import PodNetwork
from steward.local.containers.nodes import NodeFiles
from steward.local.containers.programs import SYSTEM_PATH
from steward.local.errors import MachineUnsuitable
from steward.local.settings import Layout

RECORD_COPY = "machine.json"


def require_suitable() -> None:
    problem = preconditions.machine_problem(read_machine())
    if problem:
        raise MachineUnsuitable(problem)


def require_available(layout: Layout, network: PodNetwork, iptables: Iptables) -> None:
    """Raise if another cluster, or anything else on the machine, uses what this one needs."""
    owner = _owner()
    if owner is not None and owner != layout.directory and _is_running(owner):
        raise MachineUnsuitable(
            f"A cluster with containers runs already in {owner}, and a machine can run one: stop it with "
            f"`steward down --dir {owner}`."
        )
    if owner is not None and owner != layout.directory:
        clean(Layout(owner))
    problem = preconditions.network_problem(read_network(iptables.kube_chains(), network.address), network)
    if problem:
        raise MachineUnsuitable(problem)


def _owner() -> Path | None:
    with suppress(OSError):
        return Path(OWNER_FILE.read_text())
    return None


def _is_running(directory: Path) -> bool:
    return any(service.is_running() for service in Layout(directory).all_services())


def prepare(layout: Layout, containers: ContainerAssembly) -> None:
    """Make everything, after the record of it. Whatever an earlier start left has been removed."""
    iptables = Iptables(containers.programs.iptables)
    require_available(layout, containers.network, iptables)
    made = _new_record(containers)
    record.write(layout.machine_record, made)
    RUN.mkdir(exist_ok=True, mode=0o711)
    record.write(RUN / RECORD_COPY, made)  # for a directory that is deleted while its cluster runs
    OWNER_FILE.write_text(str(layout.directory))
    _make_directories(layout, containers)
    cgroups.create(node.name for node in containers.nodes)
    _make_bridge(containers)
    iptables.install(str(containers.network.subnet))


def _new_record(containers: ContainerAssembly) -> MachineRecord:
    return MachineRecord(
        record.current_boot(),
        str(containers.programs.iptables),
        sysctls.read(),
        record.missing_directories(PRIVATE_DIRECTORIES),
    )


def _make_directories(layout: Layout, containers: ContainerAssembly) -> None:
    for node in containers.nodes:
        files = NodeFiles(layout, node)
        for target, source in files.private.items():
            target.mkdir(parents=True, exist_ok=True)
            source.mkdir(parents=True, exist_ok=True)
        for path in (files.images, files.kubelet, files.pod_logs):
            path.mkdir(parents=True, exist_ok=True)
    layout.volumes.mkdir(exist_ok=True)


def bridge_commands(containers: ContainerAssembly) -> list[list[str]]:
    """Arguments of `ip`. The route keeps connections to Services here, also while kube-proxy does not run."""
    network = containers.network
    nodes = [["address", "add", f"{node.address}/32", "dev", BRIDGE] for node in containers.nodes]
    return [
        ["link", "add", "name", BRIDGE, "type", "bridge"],
        ["link", "set", "dev", BRIDGE, "addrgenmode", "none"],  # no IPv6 address
        ["address", "add", network.interface_address, "dev", BRIDGE],
        *nodes,
        ["link", "set", "dev", BRIDGE, "up"],
        ["route", "add", SERVICE_RANGE, "dev", BRIDGE, "src", network.address],
    ]


def _make_bridge(containers: ContainerAssembly) -> None:
    for arguments in bridge_commands(containers):
        _ip(arguments)
    sysctls.enable_forwarding(BRIDGE)


def _ip(arguments: list[str]) -> None:
    environment = os.environ | {"PATH": f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}"}
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise MachineUnsuitable(
            f"`ip {' '.join(arguments)}` failed ({done.stderr.strip()}): remove what stands in its way and run the "
            "command again."
        )


def kill_containers(layout: Layout) -> None:
    """Kill all containers of the directory's cluster. The kubelets have ended, and do not start them again."""
    if is_made(layout) and _owner() in {None, layout.directory}:
        leftovers.kill_shims()
        cgroups.kill_all()


def is_made(layout: Layout) -> bool:
    """Whether the machine may hold something of this directory's cluster."""
    return layout.machine_record.exists()


def clean(layout: Layout) -> None:
    """Remove from the machine what the record names. All processes of the cluster have ended, but for containers."""
    owner = _owner()
    if owner == layout.directory or (owner is None and is_made(layout)):
        _require_root(layout)
        kill_containers(layout)
        _remove_all(record.read(layout.machine_record) or record.read(RUN / RECORD_COPY))
    # The cluster of another directory may run since a reboot: what the machine has now is not ours.
    layout.machine_record.unlink(missing_ok=True)


def _remove_all(known: MachineRecord | None) -> None:
    _remove_network()
    if known is not None and known.boot == record.current_boot():
        Iptables(Path(known.iptables)).remove()
        sysctls.restore(known.sysctls)
    cgroups.remove()
    _remove_directories(known)
    shutil.rmtree(RUN, ignore_errors=True)  # last: an interrupted removal begins again


def _require_root(layout: Layout) -> None:
    if os.geteuid() != 0:
        raise MachineUnsuitable(
            f"The cluster in {layout.directory} has containers, which only root can stop: run the command with sudo."
        )


def _remove_network() -> None:
    bridge = Path("/sys/class/net", BRIDGE)
    if bridge.exists():
        # The other ends of these links are in the network namespaces of pods, which the kernel removes a little later.
        for port in bridge.glob("brif/*"):
            with suppress(MachineUnsuitable):
                _ip(["link", "delete", port.name])
        _ip(["link", "delete", BRIDGE])


def _remove_directories(known: MachineRecord | None) -> None:
    for name in reversed(known.directories if known else []):
        with suppress(OSError):  # something of others is in it now
            Path(name).rmdir()
