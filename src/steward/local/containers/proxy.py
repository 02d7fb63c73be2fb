"""The configuration of kube-proxy: one for all nodes, since they share the network of this machine. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from steward.local.containers.assembly import ContainerAssembly
from steward.local.ports import Ports
from steward.local.settings import LOOPBACK

USER = "system:kube-proxy"  # RBAC's own rules grant it what it needs
HEALTH, METRICS = "kube-proxy", "kube-proxy-metrics"


def proxy_config(containers: ContainerAssembly, ports: Ports, kubeconfig: Path) -> dict[str, Any]:
    subnet = str(containers.network.subnet)
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "hostnameOverride": containers.nodes[0].name,
        "bindAddress": containers.network.address,
        "clusterCIDR": subnet,
        "nodePortAddresses": [subnet],  # else other machines could reach them
        "healthzBindAddress": f"{LOOPBACK}:{ports[HEALTH]}",
        "metricsBindAddress": f"{LOOPBACK}:{ports[METRICS]}",
        # Replies between pods would otherwise cross the bridge without passing the address translation, unless every
        # bridge of this machine, Docker's included, sent its frames through iptables.
        "iptables": {"masqueradeAll": True, "localhostNodePorts": False, "minSyncPeriod": "200ms"},
        # Zero leaves the kernel's values alone.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }
