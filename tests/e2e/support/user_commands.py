"""Commands of a user and of an administrator on a cluster with containers."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from steward.local import control_plane
from steward.local.settings import Layout
from tests.e2e.support.container_cluster import ContainerCluster
from tests.support.paths import ROOT
from tests.support.programs import built_program

_HELM_SECONDS = 400


def helm(cluster: ContainerCluster, *arguments: str) -> str:
    done = subprocess.run(
        [built_program("helm"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=_HELM_SECONDS,
        env=os.environ | {"KUBECONFIG": str(cluster.directory / "kubeconfig")},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def machine_address(cluster: ContainerCluster) -> str:
    """An address of this machine that pods can reach."""
    return urlsplit(control_plane.find(cluster.directory).url).hostname or ""


@contextmanager
def stopped_kubelet(cluster: ContainerCluster, node: str) -> Iterator[None]:
    """The kubelet of `node` does nothing; its containers run on."""
    kubelet = Layout(cluster.directory).service(f"kubelet-{node}")
    kubelet.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        kubelet.send_signal(signal.SIGCONT)
