"""Names of what a cluster with containers makes on the machine.

They are fixed, because kube-proxy's chains are too: one such cluster runs on a machine at a time. Everything has one of
these names or lies below one of these paths, so that it is found again after any crash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

BRIDGE: Final = "steward0"
CHAIN: Final = "STEWARD-LOCAL"
KUBE_CHAINS: Final = "KUBE-"  # the prefix of kube-proxy's chains
CGROUP: Final = "steward-local"
POD_NETWORK: Final = "steward-local"  # as the network plugins name it
RUN: Final = Path("/run/steward-local")  # sockets and states of containerd, leases of addresses
OWNER_FILE: Final = RUN / "directory"  # names the directory of the cluster that runs
SERVICE_RANGE: Final = "10.96.0.0/16"
DNS_PORT: Final = 53
# As images/recipes.py names it. Not imported from there: that module needs the operators' code, which is tested on
# control planes.
SANDBOX_IMAGE: Final = "steward.local/pause:1"

# Paths of sockets have at most 107 characters, and the kubelet makes some in its own directory: it gets a short name.
KUBELET_ROOT: Final = Path("/var/lib/kubelet")

# Where containerd and the kubelet write whatever their configuration says. Each node sees a directory of its own there,
# in its mount namespace; the machine only gets the mount points, if they are missing.
PRIVATE_DIRECTORIES: Final = (
    Path("/run/containerd"),
    Path("/var/lib/cni"),
    KUBELET_ROOT,
    Path("/var/log/containers"),
)
