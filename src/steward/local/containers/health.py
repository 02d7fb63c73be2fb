"""When the processes of the nodes are ready."""

from __future__ import annotations

import asyncio
from functools import partial

from steward.local.assembly import Assembly
from steward.local.bootstrap.api import BootstrapClient
from steward.local.containers import dns, proxy
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.nodes import Node
from steward.local.health import Check
from steward.local.settings import LOOPBACK


def checks(assembly: Assembly, containers: ContainerAssembly, api: BootstrapClient) -> dict[str, Check]:
    def answers(listener: str, path: str) -> Check:
        return partial(api.is_healthy, f"http://{LOOPBACK}:{assembly.ports[listener]}{path}")

    return (
        {node.containerd: partial(_containerd_answers, containers, node) for node in containers.nodes}
        | {node.kubelet: answers(node.health_listener, "/healthz") for node in containers.nodes}
        | {
            "kube-proxy": answers(proxy.HEALTH, "/livez"),
            "coredns": partial(dns.answers, containers.network.address),
            "volume-provisioner": _always,
        }
    )


async def _containerd_answers(containers: ContainerAssembly, node: Node) -> bool:
    process = await asyncio.create_subprocess_exec(
        *(str(containers.programs.ctr), "--address", str(node.socket), "--timeout", "2s", "version"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        return await process.wait() == 0
    except BaseException:
        process.kill()
        await process.wait()
        raise


async def _always() -> bool:
    """The provisioner serves nothing: it works as long as it runs."""
    return True
