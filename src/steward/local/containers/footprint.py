"""The list of what a cluster with containers makes on the machine, for a user to read before the first start. Pure."""

from __future__ import annotations

from pathlib import Path

from steward.local.containers.machine import sysctls
from steward.local.containers.names import (
    BRIDGE,
    CGROUP,
    CHAIN,
    DNS_PORT,
    PRIVATE_DIRECTORIES,
    RUN,
    SERVICE_RANGE,
)
from steward.local.containers.network import PodNetwork


def footprint(directory: Path, network: PodNetwork) -> list[str]:
    settings = ", ".join(name.replace("/", ".") for name in sysctls.CHANGED)
    mount_points = ", ".join(map(str, PRIVATE_DIRECTORIES))
    rows = {
        "network": f"the bridge {BRIDGE} with {network.subnet}, a route for {SERVICE_RANGE}, a namespace for each pod",
        "listeners": f"API server, kubelets and DNS (port {DNS_PORT}) on the bridge, the rest on 127.0.0.1",
        "iptables": f"the chains KUBE-* of kube-proxy, and {CHAIN}: it drops what pods send to other machines",
        "cgroups": f"{CGROUP}, in every hierarchy",
        "processes": "control plane, containerd, kubelets, kube-proxy, CoreDNS, provisioner, containers",
        "mounts": "only in mount namespaces of these processes",
        "files": f"{directory}, {RUN}; if missing, the mount points {mount_points}",
        "kernel": f"kubelets set {settings}",
    }
    head = "On this machine it makes the following, and `steward down` removes it or sets it back:"
    return [head, *(f"  {name:10}  {text}" for name, text in rows.items())]
