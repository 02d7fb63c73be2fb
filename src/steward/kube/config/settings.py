"""The settings of a connection: cluster, TLS and authentication, as plain values.

Nothing here is read, checked or cached. No repr contains a secret.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

# The characters that a header name may hold besides letters and digits; all others of an extra key are percent-encoded.
_TOKEN: Final = "!#$&'*+-.^_`|~"


class Pem(Struct, frozen=True):
    """Certificates or a key: inline, or in a file that is read again when it changes."""

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
    """The cluster information for the plugin, with `provideClusterInfo`."""


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
    """The user to act as, like `kubectl --as`, `--as-uid` and `--as-group`."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The HTTP headers, encoded as the API server decodes them."""
        headers = [("Impersonate-User", self.user)]
        if self.uid:
            headers.append(("Impersonate-Uid", self.uid))
        headers.extend(("Impersonate-Group", group) for group in self.groups)
        for key, values in self.extra.items():
            name = f"Impersonate-Extra-{quote(key, safe=_TOKEN)}"
            headers.extend((name, value) for value in values)
        return tuple(headers)


class ConnectionSettings(Struct, frozen=True, kw_only=True):
    server: str
    namespace: str = "default"
    pod_namespace: str = ""
    """In a pod: the namespace of its service account. Unlike that of a context, it is where this process runs."""
    origin: str = ""
    """Where the settings come from, for messages: a context and its file, or the service account."""
    tls: TlsSettings = TlsSettings()
    auth: AuthSettings = AuthSettings()
    proxy: str = ""
    """From `proxy-url`; when empty, HTTPS_PROXY and NO_PROXY decide."""
    impersonation: Impersonation | None = None
