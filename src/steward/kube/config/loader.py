"""Finds the cluster to connect to, in the same places as kubectl.

In this order: the kubeconfig of an option, the files of KUBECONFIG, ~/.kube/config, the pod's service account. Invalid
configuration is reported here, with the file, the entry and the cure, and not at the first request.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from steward.kube.config.in_cluster import MOUNT, in_cluster_settings, is_in_cluster
from steward.kube.config.kubeconfig import Cluster, Exec, Kubeconfig, User, read_kubeconfigs
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import (
    AuthSettings,
    ConnectionSettings,
    ExecSettings,
    Impersonation,
    Pem,
    TlsSettings,
)
from steward.kube.errors import ConfigError, NoCluster

_CLUSTER_EXTENSION = "client.authentication.k8s.io/exec"
_V1 = "client.authentication.k8s.io/v1"

T = TypeVar("T")


class ConfigSource(Struct, frozen=True, kw_only=True):
    kubeconfig: str = ""
    """The option --kubeconfig."""
    context: str = ""
    """The option --context; "" means the current context."""
    environ: Mapping[str, str] = os.environ
    service_account: Path = MOUNT


def load_settings(source: ConfigSource | None = None) -> ConnectionSettings:
    source = source or ConfigSource()
    paths = kubeconfig_paths(source)
    config = read_kubeconfigs(paths)
    if config.is_empty and not source.context:
        if is_in_cluster(source.environ, source.service_account):
            return in_cluster_settings(source.environ, source.service_account)
        raise NoCluster(_not_found_message(paths))
    return settings_of(config, source.context)


def kubeconfig_paths(source: ConfigSource) -> list[Path]:
    if source.kubeconfig:
        path = Path(source.kubeconfig).expanduser()
        if not path.exists():
            raise ConfigError(f"there is no kubeconfig at {path}")
        return [path]
    listed = source.environ.get("KUBECONFIG", "")
    if listed:
        return [Path(entry) for entry in dict.fromkeys(listed.split(os.pathsep)) if entry]
    home = source.environ.get("HOME", "")
    return [Path(home) / ".kube" / "config"] if home else []


def settings_of(config: Kubeconfig, context_name: str = "") -> ConnectionSettings:
    name = context_name or config.current_context
    where = ", ".join(config.files) or "the kubeconfig"
    if not name:
        raise ConfigError(f"{where} has no current-context; run `kubectl config use-context NAME`")
    context = _entry(config.contexts, name, "context", where)
    cluster = _entry(config.clusters, context.cluster, "cluster", where)
    user = _entry(config.users, context.user, "user", where) if context.user else User()
    origin = f"context {name!r} of {where}"
    _check_user(user, context.user, where)
    tls = _tls(cluster, user, origin)
    server = _server(cluster, context.cluster, tls, where)
    choose_proxy(server, cluster.proxy_url, {})
    return ConnectionSettings(
        server=server,
        namespace=context.namespace or "default",
        origin=origin,
        tls=tls,
        # A token or a password must not be sent without TLS: kubectl leaves them out too.
        auth=_auth(user, cluster, server) if server.startswith("https:") else AuthSettings(),
        proxy=cluster.proxy_url,
        impersonation=_impersonation(user),
    )


def _entry(entries: Mapping[str, T], name: str, what: str, where: str) -> T:
    if name in entries:
        return entries[name]
    known = ", ".join(sorted(entries)) or "none"
    raise ConfigError(f"{where} has no {what} {name!r} (it has: {known})")


def _check_user(user: User, name: str, where: str) -> None:
    if user.auth_provider is not None:
        raise ConfigError(
            f"user {name!r} of {where} uses the auth-provider {user.auth_provider.name!r}, which Kubernetes has "
            "removed; use the cloud's credential plugin instead (`exec:`), such as gke-gcloud-auth-plugin or kubelogin"
        )
    if user.token and (user.username or user.password):
        raise ConfigError(f"user {name!r} of {where} has a token and a password; keep one of them")
    if (
        user.impersonated_uid or user.impersonated_groups or user.impersonated_extra
    ) and not user.impersonated:
        raise ConfigError(f"user {name!r} of {where} has as-uid, as-groups or as-user-extra without `as`")
    has_certificate = bool(user.client_certificate or user.client_certificate_data)
    if has_certificate and not (user.client_key or user.client_key_data):
        raise ConfigError(f"user {name!r} of {where} has a client certificate but no client-key")
    if user.exec is not None and not (user.exec.command and user.exec.api_version):
        raise ConfigError(f"exec of user {name!r} of {where} needs command and apiVersion")
    if user.exec is not None and user.exec.api_version == _V1 and not user.exec.interactive_mode:
        raise ConfigError(
            f"exec of user {name!r} of {where} needs interactiveMode: Never, IfAvailable or Always"
        )


def _server(cluster: Cluster, name: str, tls: TlsSettings, where: str) -> str:
    if not cluster.server:
        raise ConfigError(f"cluster {name!r} of {where} has no server")
    if "://" in cluster.server:
        return cluster.server
    # Like kubectl: certificates imply https.
    scheme = "https" if tls.authority or tls.certificate or tls.insecure else "http"
    return f"{scheme}://{cluster.server}"


def _tls(cluster: Cluster, user: User, origin: str) -> TlsSettings:
    authority = _pem(cluster.certificate_authority_data, cluster.certificate_authority, origin)
    if authority and cluster.insecure_skip_tls_verify:
        raise ConfigError(
            f"{origin} has both a certificate-authority and insecure-skip-tls-verify; keep the first"
        )
    certificate = _pem(user.client_certificate_data, user.client_certificate, origin)
    return TlsSettings(
        server_name=cluster.tls_server_name,
        insecure=cluster.insecure_skip_tls_verify,
        authority=authority,
        certificate=certificate,
        key=_pem(user.client_key_data, user.client_key, origin) if certificate else Pem(),
    )


def _pem(data: str, path: str, origin: str) -> Pem:
    """Inline data takes precedence over a file."""
    if data:
        return Pem(data=_from_base64(data, origin))
    if path and not Path(path).is_file():
        raise ConfigError(f"{origin} names {path}, which does not exist")
    return Pem(file=path)


def _from_base64(data: str, origin: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error as error:
        raise ConfigError(f"{origin} has certificate or key data that is not base64 ({error})") from None


def _auth(user: User, cluster: Cluster, server: str) -> AuthSettings:
    return AuthSettings(
        token=user.token,
        token_file=user.token_file,
        username=user.username,
        password=user.password,
        plugin=_plugin(user.exec, cluster, server) if user.exec else None,
    )


def _plugin(plugin: Exec, cluster: Cluster, server: str) -> ExecSettings:
    return ExecSettings(
        command=plugin.command,
        args=tuple(plugin.args or ()),
        env={entry.name: entry.value for entry in plugin.env or ()},
        api_version=plugin.api_version,
        install_hint=plugin.install_hint,
        interactive_mode=plugin.interactive_mode or "IfAvailable",
        cluster=_cluster_info(cluster, server) if plugin.provide_cluster_info else None,
    )


def _cluster_info(cluster: Cluster, server: str) -> dict[str, Any]:
    authority = cluster.certificate_authority_data
    if not authority and cluster.certificate_authority:
        authority = base64.b64encode(Path(cluster.certificate_authority).read_bytes()).decode("ascii")
    extensions = {entry.name: entry.extension for entry in cluster.extensions or ()}
    info = {
        "server": server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": "".join(authority.split()),
        "proxy-url": cluster.proxy_url,
        "config": extensions.get(_CLUSTER_EXTENSION),
    }
    return {name: value for name, value in info.items() if value}


def _impersonation(user: User) -> Impersonation | None:
    if not user.impersonated:
        return None
    return Impersonation(
        user=user.impersonated,
        uid=user.impersonated_uid,
        groups=tuple(user.impersonated_groups or ()),
        extra={key: tuple(values) for key, values in (user.impersonated_extra or {}).items()},
    )


def _not_found_message(paths: list[Path]) -> str:
    searched = ", ".join(str(path) for path in paths) or "~/.kube/config"
    return (
        f"found no cluster to connect to: no kubeconfig at {searched}, and this is not a pod. "
        "Set KUBECONFIG or pass --kubeconfig"
    )
