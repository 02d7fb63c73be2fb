"""The credentials of a request: an Authorization header, a client certificate, or both.

The transport gets them before every attempt, so that rotation needs no restart, and reports those that the API server
rejected.
"""

import base64
from typing import Protocol

from msgspec import Struct

from steward.kube.auth.exec_plugin import ExecPlugin, PluginCredential
from steward.kube.auth.rotated_file import RotatedFile
from steward.kube.auth.tls import ClientCertificate
from steward.kube.clock import Clock
from steward.kube.config.settings import AuthSettings
from steward.kube.errors import ConfigError


class RequestCredentials(Struct, frozen=True):
    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        return "RequestCredentials(...)"


class CredentialSource(Protocol):
    async def current(self) -> RequestCredentials: ...

    def rejected(self, credentials: RequestCredentials) -> None:
        """The server answered 401: get new credentials, unless these are no longer the current ones."""


class StaticCredentials:
    """A token, a password, or neither (when a client certificate authenticates us)."""

    def __init__(self, authorization: str) -> None:
        self._credentials = RequestCredentials(authorization)

    async def current(self) -> RequestCredentials:
        return self._credentials

    def rejected(self, credentials: RequestCredentials) -> None:
        return


class TokenFileCredentials:
    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._file = RotatedFile(path, clock)
        self._read_from = b""
        self._credentials = RequestCredentials()

    async def current(self) -> RequestCredentials:
        content = self._file.read()
        if content is not self._read_from:
            self._credentials = RequestCredentials(f"Bearer {self._token(content)}")
            self._read_from = content
        return self._credentials

    def _token(self, content: bytes) -> str:
        token = content.decode("ascii", "replace").strip()
        if not token:
            raise ConfigError(f"{self._path} holds no token")
        return token

    def rejected(self, credentials: RequestCredentials) -> None:
        self._file.check_now()


class PluginCredentials:
    def __init__(self, plugin: ExecPlugin) -> None:
        self._plugin = plugin
        self._plugin_credential: PluginCredential | None = None
        self._credentials = RequestCredentials()

    async def current(self) -> RequestCredentials:
        credential = await self._plugin.credential()
        if credential is not self._plugin_credential:
            bearer = f"Bearer {credential.token}" if credential.token else ""
            self._credentials = RequestCredentials(bearer, credential.certificate)
            self._plugin_credential = credential
        return self._credentials

    def rejected(self, credentials: RequestCredentials) -> None:
        if credentials is self._credentials and self._plugin_credential is not None:
            self._plugin.invalidate(self._plugin_credential)


def credentials_for(auth: AuthSettings, clock: Clock) -> CredentialSource:
    """A token file takes precedence over a token, because it is rotated; a plugin is used only without either."""
    if auth.token_file:
        return TokenFileCredentials(auth.token_file, clock)
    if auth.token:
        return StaticCredentials(f"Bearer {auth.token}")
    if auth.username:
        pair = base64.b64encode(f"{auth.username}:{auth.password}".encode()).decode("ascii")
        return StaticCredentials(f"Basic {pair}")
    if auth.plugin is not None:
        return PluginCredentials(ExecPlugin(auth.plugin, clock))
    return StaticCredentials("")
