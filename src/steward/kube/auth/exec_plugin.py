"""Credential plugins: a program of the user's prints an ExecCredential, which is kept until it expires.

The plugin runs once at a time however many calls wait for it, and again when its answer has expired or the server
refused it. Nothing that it printed is ever part of a message, except what it wrote to standard error.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from steward.kube.auth.tls import ClientCertificate
from steward.kube.clock import Clock
from steward.kube.config.settings import ExecSettings
from steward.kube.errors import ConfigError

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
MODES = ("Never", "IfAvailable", "Always")
TIMEOUT_SECONDS = 60.0


class PluginCredential(Struct, frozen=True):
    token: str
    certificate: ClientCertificate | None
    expires: float | None
    """Wall seconds; None lasts until it is refused."""

    def __repr__(self) -> str:
        return f"PluginCredential(expires={self.expires})"


class _PrintedStatus(Struct, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: str | None = None


class _Printed(Struct, rename="camel"):
    api_version: str
    kind: str
    status: _PrintedStatus | None = None


class ExecPlugin:
    def __init__(self, settings: ExecSettings, clock: Clock) -> None:
        _check(settings)
        self._settings = settings
        self._clock = clock
        self._held: PluginCredential | None = None
        self._running = asyncio.Lock()

    async def credential(self) -> PluginCredential:
        if self._held is None or self._expired(self._held):
            async with self._running:
                if self._held is None or self._expired(self._held):
                    self._held = await self._run()
        return self._held

    def refuse(self, credential: PluginCredential) -> None:
        """The server did not accept this one: the next call runs the plugin, unless it has run meanwhile."""
        if self._held is credential:
            self._held = None

    def _expired(self, held: PluginCredential) -> bool:
        return held.expires is not None and self._clock.now() >= held.expires

    async def _run(self) -> PluginCredential:
        interactive = is_interactive(self._settings, _has_terminal())
        environment = {
            **os.environ,
            **self._settings.env,
            "KUBERNETES_EXEC_INFO": exec_info(self._settings, interactive),
        }
        output = await _output(
            self._settings, environment, None if interactive else asyncio.subprocess.DEVNULL
        )
        return parse_credential(output, self._settings)


def _check(settings: ExecSettings) -> None:
    if settings.api_version not in VERSIONS:
        raise ConfigError(
            f"the credential plugin {settings.command} asks for apiVersion {settings.api_version!r}, "
            f"which is not served; use {VERSIONS[0]} (newer releases of the plugin have it)"
        )
    if settings.interactive_mode not in MODES:
        raise ConfigError(
            f"interactiveMode of the credential plugin {settings.command} must be one of {', '.join(MODES)}, "
            f"not {settings.interactive_mode!r}"
        )


def is_interactive(settings: ExecSettings, has_terminal: bool) -> bool:
    if settings.interactive_mode == "Always" and not has_terminal:
        raise ConfigError(
            f"the credential plugin {settings.command} must ask on a terminal (interactiveMode: Always), "
            "and there is none; use credentials that need no person"
        )
    return settings.interactive_mode != "Never" and has_terminal


def exec_info(settings: ExecSettings, interactive: bool) -> str:
    spec: dict[str, Any] = {"interactive": interactive}
    if settings.cluster is not None:
        spec["cluster"] = settings.cluster
    info = {"apiVersion": settings.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(info).decode()


async def _output(settings: ExecSettings, environment: Mapping[str, str], stdin: int | None) -> bytes:
    program = shutil.which(settings.command, path=environment.get("PATH"))
    if program is None:
        raise ConfigError(_hinted(f"the credential plugin {settings.command} was not found", settings))
    process = await asyncio.create_subprocess_exec(
        program,
        *settings.args,
        env=environment,
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await _finished(process, settings)
    if process.returncode != 0:
        said = _plain(stderr.decode("utf-8", "replace"))[-300:]
        message = f"the credential plugin {settings.command} ended with {process.returncode}"
        raise ConfigError(_hinted(f"{message}: {said}" if said else message, settings))
    return stdout


async def _finished(process: asyncio.subprocess.Process, settings: ExecSettings) -> tuple[bytes, bytes]:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return await process.communicate()
    except TimeoutError:
        message = f"the credential plugin {settings.command} did not answer in {TIMEOUT_SECONDS:.0f} s"
        raise ConfigError(_hinted(message, settings)) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def parse_credential(output: bytes, settings: ExecSettings) -> PluginCredential:
    try:
        printed = msgspec.json.decode(output, type=_Printed)
    except msgspec.DecodeError as error:
        raise ConfigError(
            f"the credential plugin {settings.command} printed no ExecCredential: {error}"
        ) from None
    if printed.kind != "ExecCredential" or printed.api_version != settings.api_version:
        raise ConfigError(
            f"the credential plugin {settings.command} was asked for an ExecCredential of {settings.api_version} "
            f"and printed a {printed.kind} of {printed.api_version}; make the two agree"
        )
    return _credential(printed.status or _PrintedStatus(), settings)


def _credential(status: _PrintedStatus, settings: ExecSettings) -> PluginCredential:
    certificate = status.client_certificate_data.encode()
    key = status.client_key_data.encode()
    if bool(certificate) != bool(key):
        raise ConfigError(f"the credential plugin {settings.command} printed only one of certificate and key")
    if not certificate and not status.token:
        raise ConfigError(
            f"the credential plugin {settings.command} printed neither a token nor a certificate"
        )
    pair = ClientCertificate(certificate, key) if certificate else None
    return PluginCredential(status.token, pair, _expiry(status.expiration_timestamp, settings))


def _expiry(timestamp: str | None, settings: ExecSettings) -> float | None:
    if not timestamp:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        raise ConfigError(
            f"the credential plugin {settings.command} printed an expirationTimestamp that is no RFC 3339 time"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _hinted(message: str, settings: ExecSettings) -> str:
    hint = _plain(settings.install_hint)
    return f"{message}. {hint}" if hint else message


def _plain(text: str) -> str:
    """On one line, and without what could steer a terminal."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def _has_terminal() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False
