"""Who we are to the server, for one request: an Authorization header and perhaps a client certificate.

Credentials are asked for before every attempt, so that rotation needs no restart, and are told when the server
refused what they gave.
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


class Presented(Struct, frozen=True):
    authorization: str = ""
    certificate: ClientCertificate | None = None

    def __repr__(self) -> str:
        return "Presented(...)"


class Credentials(Protocol):
    async def present(self) -> Presented: ...

    def refused(self, presented: Presented) -> None:
        """The server answered 401 to this: look again for something newer, unless it was found meanwhile."""


class Fixed:
    """A token, a password, or nothing at all (the certificate then speaks for us)."""

    def __init__(self, authorization: str) -> None:
        self._presented = Presented(authorization)

    async def present(self) -> Presented:
        return self._presented

    def refused(self, presented: Presented) -> None:
        return


class TokenFile:
    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._file = RotatedFile(path, clock)
        self._read_from = b""
        self._presented = Presented()

    async def present(self) -> Presented:
        content = self._file.read()
        if content is not self._read_from:
            self._presented = Presented(f"Bearer {self._token(content)}")
            self._read_from = content
        return self._presented

    def _token(self, content: bytes) -> str:
        token = content.decode("ascii", "replace").strip()
        if not token:
            raise ConfigError(f"{self._path} holds no token")
        return token

    def refused(self, presented: Presented) -> None:
        self._file.check_now()


class FromPlugin:
    def __init__(self, plugin: ExecPlugin) -> None:
        self._plugin = plugin
        self._held: PluginCredential | None = None
        self._presented = Presented()

    async def present(self) -> Presented:
        credential = await self._plugin.credential()
        if credential is not self._held:
            bearer = f"Bearer {credential.token}" if credential.token else ""
            self._presented = Presented(bearer, credential.certificate)
            self._held = credential
        return self._presented

    def refused(self, presented: Presented) -> None:
        if presented is self._presented and self._held is not None:
            self._plugin.refuse(self._held)


def credentials_for(auth: AuthSettings, clock: Clock) -> Credentials:
    """The file wins over the token beside it, since the file is kept fresh; the plugin speaks only alone."""
    if auth.token_file:
        return TokenFile(auth.token_file, clock)
    if auth.token:
        return Fixed(f"Bearer {auth.token}")
    if auth.username:
        pair = base64.b64encode(f"{auth.username}:{auth.password}".encode()).decode("ascii")
        return Fixed(f"Basic {pair}")
    if auth.plugin is not None:
        return FromPlugin(ExecPlugin(auth.plugin, clock))
    return Fixed("")
