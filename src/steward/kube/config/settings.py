"""How to reach one cluster as one user: plain values, whatever they were read from.

Nothing here is read, checked or cached; secrets are kept out of every repr.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class Pem(Struct, frozen=True):
    """Certificates or a key: given whole, or by a file that is read again when it changes."""

    data: bytes = b""
    file: str = ""

    def __bool__(self) -> bool:
        return bool(self.data or self.file)

    def __repr__(self) -> str:
        return f"Pem({self.file or 'inline' if self else ''})"


class TlsSettings(Struct, frozen=True, kw_only=True):
    server_name: str = ""
    insecure: bool = False
    authority: Pem = Pem()
    certificate: Pem = Pem()
    key: Pem = Pem()


class ExecSettings(Struct, frozen=True, kw_only=True):
    """A credential plugin: a program that prints an ExecCredential."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    api_version: str = "client.authentication.k8s.io/v1"
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    cluster: Mapping[str, Any] | None = None
    """What the plugin is told about the cluster when it asked for it (`provideClusterInfo`)."""


class AuthSettings(Struct, frozen=True, kw_only=True):
    token: str = ""
    token_file: str = ""
    username: str = ""
    password: str = ""
    plugin: ExecSettings | None = None

    def __repr__(self) -> str:
        methods = {
            "token": self.token,
            "token_file": self.token_file,
            "username": self.username,
            "plugin": self.plugin,
        }
        return f"AuthSettings({', '.join(name for name, value in methods.items() if value)})"


class Impersonation(Struct, frozen=True, kw_only=True):
    """Whom to act as: what `kubectl --as` and its companions say."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}


class ConnectionSettings(Struct, frozen=True, kw_only=True):
    server: str
    namespace: str = "default"
    origin: str = ""
    """Where this was found, for messages: a context and its file, or the service account."""
    tls: TlsSettings = TlsSettings()
    auth: AuthSettings = AuthSettings()
    proxy: str = ""
    """From `proxy-url`; empty leaves it to HTTPS_PROXY and NO_PROXY."""
    impersonation: Impersonation | None = None
