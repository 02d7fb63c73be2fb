"""The connection settings inside a pod: the address from the environment, the rest from the mounted service account."""

from collections.abc import Mapping
from pathlib import Path

from steward.kube.config.settings import AuthSettings, ConnectionSettings, Pem, TlsSettings
from steward.kube.errors import ConfigError

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def is_in_cluster(environ: Mapping[str, str], mount: Path = MOUNT) -> bool:
    return bool(_address(environ)) and (mount / "token").is_file()


def in_cluster_settings(environ: Mapping[str, str], mount: Path = MOUNT) -> ConnectionSettings:
    address = _address(environ)
    if not address:
        raise ConfigError(
            "this is not a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set"
        )
    token, authority = mount / "token", mount / "ca.crt"
    if not token.is_file():
        raise ConfigError(
            f"the pod has no service account token at {token}; set automountServiceAccountToken: true"
        )
    namespace = _pod_namespace(mount)
    return ConnectionSettings(
        server=f"https://{address}",
        namespace=namespace or "default",
        pod_namespace=namespace,
        origin="the pod's service account",
        # Without a mounted authority, those of the system are trusted, as in client-go.
        tls=TlsSettings(authority=Pem(file=str(authority)) if authority.is_file() else Pem()),
        auth=AuthSettings(token_file=str(token)),
    )


def _address(environ: Mapping[str, str]) -> str:
    host = environ.get("KUBERNETES_SERVICE_HOST", "")
    port = environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _pod_namespace(mount: Path) -> str:
    try:
        return (mount / "namespace").read_text("utf-8").strip()
    except OSError:
        return ""
