"""The command lines and configuration files of the components. Pure.

All components, etcd included, listen on loopback and use TLS with the cluster's own certificates: on a machine with
several users, an etcd without authentication would give every user full access to the cluster. With containers the API
server listens on the bridge of the pods instead, which no other machine reaches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from steward.local.assembly import Assembly, kubeconfig, kubeconfig_path
from steward.local.certificates import Pair, server_leaf
from steward.local.containers import components as container_components
from steward.local.containers.assembly import ContainerAssembly
from steward.local.containers.kubelet import API_SERVER_CLIENT
from steward.local.containers.names import SERVICE_RANGE
from steward.local.kwok.configuration import all_stages
from steward.local.kwok.logs import NO_CONTAINER, cluster_logs
from steward.local.settings import LOOPBACK, ControlPlaneSettings

_AUDIT_MEGABYTES = "512"


def commands(assembly: Assembly) -> dict[str, list[str]]:
    """Command lines by component, in the order in which they start."""
    arguments = {
        "etcd": _etcd(assembly),
        "kube-apiserver": _apiserver(assembly),
        "kube-controller-manager": _controller_manager(assembly),
        "kube-scheduler": _scheduler(assembly),
    }
    if assembly.containers is None:
        arguments["kwok"] = _kwok(assembly)
    shared = {name: [str(assembly.binaries[name]), *flags] for name, flags in arguments.items()}
    if assembly.containers is None:
        return shared
    return shared | container_components.commands(assembly, assembly.containers)


def files(assembly: Assembly) -> dict[Path, str]:
    """The contents of the files that the command lines refer to, by path."""
    config = assembly.layout.config
    shared = {
        assembly.layout.kubeconfig: kubeconfig(assembly, "admin"),
        config / "audit.yaml": _yaml(_audit_policy(assembly.settings.audit_level)),
        config / "scheduler.yaml": _yaml(_scheduler_config(kubeconfig_path(assembly, "kube-scheduler"))),
        **_kubeconfigs(assembly, "kube-controller-manager", "kube-scheduler"),
    }
    if assembly.containers is not None:
        return shared | container_components.files(assembly, assembly.containers)
    return shared | {
        config / "kwok.yaml": yaml.safe_dump_all(_kwok_config(assembly), sort_keys=False),
        config / "no-container.log": NO_CONTAINER,
        **_kubeconfigs(assembly, "kwok"),
    }


def _kubeconfigs(assembly: Assembly, *callers: str) -> dict[Path, str]:
    return {kubeconfig_path(assembly, name): kubeconfig(assembly, name) for name in callers}


def _etcd(assembly: Assembly) -> list[str]:
    peer_url = f"https://127.0.0.1:{assembly.ports['etcd-peer']}"
    server, ca = assembly.certificates.server, assembly.certificates.ca.certificate
    return [
        "--name=steward",
        f"--data-dir={assembly.layout.data}",
        f"--listen-client-urls={assembly.etcd_url}",
        f"--advertise-client-urls={assembly.etcd_url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=steward={peer_url}",
        *_etcd_tls("", server, ca),
        *_etcd_tls("peer-", server, ca),
        # Many times faster. Data is lost only if the machine loses power, not if the process is killed.
        "--unsafe-no-fsync",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=1h",
        f"--quota-backend-bytes={8 * 1024**3}",
        "--logger=zap",
        "--log-level=warn",
    ]


def _etcd_tls(prefix: str, server: Pair, ca: Path) -> list[str]:
    return [
        f"--{prefix}cert-file={server.certificate}",
        f"--{prefix}key-file={server.key}",
        f"--{prefix}trusted-ca-file={ca}",
        f"--{prefix}client-cert-auth",
    ]


def _apiserver(assembly: Assembly) -> list[str]:
    certificates = assembly.certificates
    etcd_client, accounts = certificates.client("etcd-client"), certificates.service_accounts
    return [
        f"--bind-address={assembly.address}",
        f"--secure-port={assembly.ports['kube-apiserver']}",
        f"--client-ca-file={certificates.ca.certificate}",
        f"--kubelet-certificate-authority={certificates.ca.certificate}",
        # Node names cannot be resolved here.
        "--kubelet-preferred-address-types=InternalIP",
        f"--etcd-servers={assembly.etcd_url}",
        f"--etcd-cafile={certificates.ca.certificate}",
        f"--etcd-certfile={etcd_client.certificate}",
        f"--etcd-keyfile={etcd_client.key}",
        *_admission_plugins(assembly.settings),
        "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={accounts.certificate}",
        f"--service-account-signing-key-file={accounts.key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        f"--audit-policy-file={assembly.layout.config / 'audit.yaml'}",
        f"--audit-log-path={assembly.layout.audit_log}",
        f"--audit-log-maxsize={_AUDIT_MEGABYTES}",
        "--audit-log-maxbackup=1",
        *_apiserver_of_nodes(assembly),
        *assembly.settings.api_server_flags,
    ]


def _apiserver_of_nodes(assembly: Assembly) -> list[str]:
    """The flags that depend on the kind of nodes."""
    if assembly.containers is None:
        return [
            *_serving(assembly),
            "--authorization-mode=RBAC",
            # Endpoints of the `kubernetes` Service must not be loopback addresses, and there are no others here.
            "--endpoint-reconciler-type=none",
        ]
    address, caller = assembly.address, assembly.certificates.client(API_SERVER_CLIENT)
    return [
        *_tls_flags(assembly.certificates.client(server_leaf("kube-apiserver", address).name)),
        "--authorization-mode=Node,RBAC",
        f"--advertise-address={address}",
        f"--kubelet-client-certificate={caller.certificate}",
        f"--kubelet-client-key={caller.key}",
    ]


def _admission_plugins(settings: ControlPlaneSettings) -> list[str]:
    of_nodes = () if settings.containers is None else ("NodeRestriction",)
    names = ",".join((*of_nodes, *settings.admission_plugins))
    return [f"--enable-admission-plugins={names}"] if names else []


def _controller_manager(assembly: Assembly) -> list[str]:
    ca, kubeconfig_file = assembly.certificates.ca, kubeconfig_path(assembly, "kube-controller-manager")
    return [
        f"--bind-address={LOOPBACK}",
        f"--secure-port={assembly.ports['kube-controller-manager']}",
        *_serving(assembly),
        f"--kubeconfig={kubeconfig_file}",
        f"--authentication-kubeconfig={kubeconfig_file}",
        f"--authorization-kubeconfig={kubeconfig_file}",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={assembly.certificates.service_accounts.key}",
        f"--root-ca-file={ca.certificate}",
        f"--cluster-signing-cert-file={ca.certificate}",
        f"--cluster-signing-key-file={ca.key}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        *_controllers(assembly.settings),
        *_heartbeats(assembly.containers),
    ]


def _controllers(settings: ControlPlaneSettings) -> list[str]:
    names = ["*", *(f"-{name}" for name in settings.disabled_controllers)]
    return [f"--controllers={','.join(names)}"] if settings.disabled_controllers else []


def _heartbeats(containers: ContainerAssembly | None) -> list[str]:
    # kwok's nodes send none, so that an idle cluster causes no requests.
    return ["--node-monitor-grace-period=87600h"] if containers is None else []


def _scheduler(assembly: Assembly) -> list[str]:
    kubeconfig_file = kubeconfig_path(assembly, "kube-scheduler")
    return [
        f"--bind-address={LOOPBACK}",
        f"--secure-port={assembly.ports['kube-scheduler']}",
        *_serving(assembly),
        f"--config={assembly.layout.config / 'scheduler.yaml'}",
        f"--authentication-kubeconfig={kubeconfig_file}",
        f"--authorization-kubeconfig={kubeconfig_file}",
    ]


def _kwok(assembly: Assembly) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig_path(assembly, 'kwok')}",
        f"--config={assembly.layout.config / 'kwok.yaml'}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        f"--server-address=127.0.0.1:{assembly.ports['kwok']}",
        *_serving(assembly),
    ]


def _kwok_config(assembly: Assembly) -> list[dict[str, Any]]:
    stages = all_stages(assembly.ports["kwok"])
    return [*stages, cluster_logs(assembly.layout.config / "no-container.log")]


def _serving(assembly: Assembly) -> list[str]:
    return _tls_flags(assembly.certificates.server)


def _tls_flags(server: Pair) -> list[str]:
    return [f"--tls-cert-file={server.certificate}", f"--tls-private-key-file={server.key}"]


def _audit_policy(level: str) -> dict[str, Any]:
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": level}],
    }


def _scheduler_config(kubeconfig_file: Path) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig_file), "qps": 1000, "burst": 2000},
        "leaderElection": {"leaderElect": False},
        "podMaxBackoffSeconds": 2,
    }


def _yaml(value: dict[str, Any]) -> str:
    return yaml.safe_dump(value, sort_keys=False)
