"""Credential plugins: a program prints an ExecCredential, which is cached until it expires.

One run of the plugin serves all waiting requests. It runs again when the credential has expired or the API server
rejected it. Messages contain its standard error, never its standard output.
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
SHORTEST_USE_SECONDS = 10.0
"""How long a credential is used at least, unless the server rejects it."""


class PluginCredential(Struct, frozen=True):
    token: str
    certificate: ClientCertificate | None
    expires: float | None
    """Seconds since the epoch; None means valid until the server rejects it."""

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
        self._cached: PluginCredential | None = None
        self._ran_at = float("-inf")
        self._running = asyncio.Lock()

    async def credential(self) -> PluginCredential:
        if self._cached is None or self._expired(self._cached):
            async with self._running:
                if self._cached is None or self._expired(self._cached):
                    self._cached = await self._run()
                    self._ran_at = self._clock.monotonic()
        return self._cached

    def invalidate(self, credential: PluginCredential) -> None:
        """The server rejected this credential: the next call runs the plugin, unless it has run since."""
        if self._cached is credential:
            self._cached = None

    def _expired(self, cached: PluginCredential) -> bool:
        if cached.expires is None or self._clock.now() < cached.expires:
            return False
        # With a wall clock that is ahead every new credential seems to have expired.
        return self._clock.monotonic() - self._ran_at >= SHORTEST_USE_SECONDS

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
            "and there is none; use credentials that need no user input"
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
    stdout, stderr = await _communicate(process, settings)
    if process.returncode != 0:
        stderr_text = _printable(stderr.decode("utf-8", "replace"))[-300:]
        message = f"the credential plugin {settings.command} ended with {process.returncode}"
        raise ConfigError(_hinted(f"{message}: {stderr_text}" if stderr_text else message, settings))
    return stdout


async def _communicate(process: asyncio.subprocess.Process, settings: ExecSettings) -> tuple[bytes, bytes]:
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
        expiry = datetime.fromisoformat(timestamp)
    except ValueError:
        raise ConfigError(
            f"the credential plugin {settings.command} printed an expirationTimestamp that is no RFC 3339 time"
        ) from None
    return (expiry if expiry.tzinfo else expiry.replace(tzinfo=UTC)).timestamp()


def _hinted(message: str, settings: ExecSettings) -> str:
    hint = _printable(settings.install_hint)
    return f"{message}. {hint}" if hint else message


def _printable(text: str) -> str:
    """On one line, and without terminal control characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def _has_terminal() -> bool:
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False
