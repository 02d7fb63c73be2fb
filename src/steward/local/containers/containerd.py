"""The configuration of a node's containerd and of its network plugins. Pure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.names import BRIDGE, POD_NETWORK, SANDBOX_IMAGE
from steward.local.containers.nodes import Node, NodeFiles

_CRI = 'plugins."io.containerd.grpc.v1.cri"'


def containerd_config(assembly: ContainerAssembly, files: NodeFiles) -> str:
    node, programs = files.node, assembly.programs
    # Version 2 is read by all releases from 1.6 on; 2.x convert it.
    tables: dict[str, dict[str, Any]] = {
        "grpc": {"address": str(node.socket)},
        'plugins."io.containerd.internal.v1.opt"': {"path": str(files.directory / "opt")},
        _CRI: {
            "sandbox_image": SANDBOX_IMAGE,
            # Without CAP_SYS_RESOURCE, as in many virtual machines, runc fails when it lowers the score of a process.
            "restrict_oom_score_adj": True,
            "netns_mounts_under_state_dir": True,
        },
        f"{_CRI}.cni": {"bin_dir": str(programs.plugins), "conf_dir": str(files.config / "cni")},
        f"{_CRI}.containerd": {"default_runtime_name": "runc"},
        f"{_CRI}.containerd.runtimes.runc": {"runtime_type": "io.containerd.runc.v2"},
        f"{_CRI}.containerd.runtimes.runc.options": {
            "BinaryName": str(programs.runc),
            "Root": str(node.run / "runc"),
            "SystemdCgroup": False,
        },
    }
    top = {"version": 2, "root": str(files.images), "state": str(node.run / "containerd"), "oom_score": 0}
    sections = [_lines(top), *(f"[{name}]\n{_lines(values)}" for name, values in tables.items())]
    return "\n".join(sections)


def _lines(values: dict[str, Any]) -> str:
    # JSON's strings, numbers and booleans are also TOML's.
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def network_config(assembly: ContainerAssembly, node: Node) -> str:
    """Pods are ports of the bridge, without masquerading: their traffic stays on this machine."""
    addresses = {
        "subnet": str(assembly.network.subnet),
        "rangeStart": node.pods.first,
        "rangeEnd": node.pods.last,
        "gateway": assembly.network.address,
    }
    bridge = {
        "type": "bridge",
        "bridge": BRIDGE,
        "isGateway": False,
        "ipMasq": False,
        "hairpinMode": True,  # a pod may reach itself through its Service
        "ipam": {
            "type": "host-local",
            "dataDir": str(node.leases),
            "ranges": [[addresses]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    return json.dumps(
        {"cniVersion": "0.4.0", "name": f"{POD_NETWORK}-{node.name}", "plugins": [bridge]}, indent=2
    )


def containerd_files(assembly: ContainerAssembly, files: NodeFiles) -> dict[Path, str]:
    return {
        files.config / "containerd.toml": containerd_config(assembly, files),
        files.config / "cni" / "10-steward.conflist": network_config(assembly, files.node),
    }
