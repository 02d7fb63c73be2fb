"""Credential plugins, as real programs."""

import asyncio
import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steward.kube.auth import exec_plugin
from steward.kube.auth.exec_plugin import ExecPlugin, exec_info, is_interactive, parse_credential
from steward.kube.config.settings import ExecSettings
from steward.kube.errors import ConfigError
from steward.testkit.clock import FakeClock

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"


def program(folder: Path, script: str) -> str:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def printed(api_version: str = V1, **status: Any) -> bytes:
    return json.dumps({"apiVersion": api_version, "kind": "ExecCredential", "status": status}).encode()


def counting(folder: Path, **status: Any) -> ExecSettings:
    """A plugin that records each run and prints the same credential."""
    script = f"echo run >> {folder}/runs; cat <<'END'\n{printed(**status).decode()}\nEND"
    return ExecSettings(command=program(folder, script), interactive_mode="Never")


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text().splitlines())


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_the_plugin_gets_arguments_environment_and_the_question(tmp_path: Path, version: str) -> None:
    script = f'printf "%s\\n" "$1" "$REGION" "$KUBERNETES_EXEC_INFO" > {tmp_path}/heard; cat <<END\n' + (
        printed(version, token="abc").decode() + "\nEND"
    )
    settings = ExecSettings(
        command=program(tmp_path, script),
        args=("get-token",),
        env={"REGION": "north"},
        api_version=version,
        interactive_mode="Never",
        cluster={"server": "https://api"},
    )
    credential = await ExecPlugin(settings, FakeClock()).credential()
    argument, region, info = (tmp_path / "heard").read_text().splitlines()
    assert credential.token == "abc"
    assert (argument, region) == ("get-token", "north")
    assert json.loads(info) == {
        "apiVersion": version,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://api"}},
    }


async def test_a_credential_is_kept_until_it_expires(tmp_path: Path) -> None:
    clock = FakeClock()
    plugin = ExecPlugin(counting(tmp_path, token="a", expirationTimestamp=stamp(clock.now() + 60)), clock)
    await plugin.credential()
    clock.advance(59)
    await plugin.credential()
    assert runs(tmp_path) == 1
    clock.advance(1)
    await plugin.credential()
    assert runs(tmp_path) == 2


async def test_with_a_clock_that_is_ahead_the_plugin_does_not_run_for_every_request(tmp_path: Path) -> None:
    clock = FakeClock()
    plugin = ExecPlugin(counting(tmp_path, token="a", expirationTimestamp=stamp(clock.now() + 60)), clock)
    clock.jump(3600)
    for _ in range(50):
        await plugin.credential()
    assert runs(tmp_path) == 1
    clock.advance(10)
    plugin.invalidate(await plugin.credential())
    await plugin.credential()
    assert runs(tmp_path) == 3, "expired again, then rejected by the server"


async def test_a_credential_without_expiry_is_valid_until_it_is_rejected(tmp_path: Path) -> None:
    clock = FakeClock()
    plugin = ExecPlugin(counting(tmp_path, token="a"), clock)
    first = await plugin.credential()
    clock.advance(1e6)
    assert await plugin.credential() is first
    plugin.invalidate(first)
    second = await plugin.credential()
    plugin.invalidate(first)
    assert await plugin.credential() is second
    assert runs(tmp_path) == 2


async def test_many_callers_wait_for_one_run(tmp_path: Path) -> None:
    plugin = ExecPlugin(counting(tmp_path, token="a"), FakeClock())
    found = await asyncio.gather(*(plugin.credential() for _ in range(20)))
    assert len({id(credential) for credential in found}) == 1
    assert runs(tmp_path) == 1


async def test_a_plugin_that_is_not_installed_is_an_error_with_the_install_hint() -> None:
    settings = ExecSettings(
        command="no-such-plugin-here", install_hint="Run\n  brew \x1b[1minstall it", interactive_mode="Never"
    )
    with pytest.raises(ConfigError, match=r"no-such-plugin-here was not found. Run brew \[1minstall it"):
        await ExecPlugin(settings, FakeClock()).credential()


async def test_a_plugin_that_fails_is_quoted_from_stderr_only(tmp_path: Path) -> None:
    settings = ExecSettings(
        command=program(tmp_path, "echo s3cret; echo please log in >&2; exit 3"), interactive_mode="Never"
    )
    with pytest.raises(ConfigError, match="ended with 3: please log in") as caught:
        await ExecPlugin(settings, FakeClock()).credential()
    assert "s3cret" not in str(caught.value)


async def test_a_plugin_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_plugin, "TIMEOUT_SECONDS", 0.05)
    settings = ExecSettings(command=program(tmp_path, "exec sleep 600"), interactive_mode="Never")
    with pytest.raises(ConfigError, match="did not answer"):
        await ExecPlugin(settings, FakeClock()).credential()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (b"token", "printed no ExecCredential"),
        (
            printed(V1BETA1, token="a"),
            f"asked for an ExecCredential of {V1} and printed a ExecCredential of {V1BETA1}",
        ),
        (printed(), "neither a token nor a certificate"),
        (printed(clientCertificateData="c"), "only one of certificate and key"),
        (printed(token="a", expirationTimestamp="tomorrow"), "no RFC 3339 time"),
    ],
)
def test_invalid_output_of_a_plugin_is_reported(output: bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_credential(output, ExecSettings(command="p"))


def test_a_plugin_may_give_a_certificate() -> None:
    credential = parse_credential(
        printed(clientCertificateData="c", clientKeyData="k"), ExecSettings(command="p")
    )
    assert credential.certificate is not None
    assert (credential.certificate.certificate, credential.certificate.key) == (b"c", b"k")


@pytest.mark.parametrize(
    ("mode", "has_terminal", "interactive"),
    [
        ("Never", True, False),
        ("IfAvailable", True, True),
        ("IfAvailable", False, False),
        ("Always", True, True),
    ],
)
def test_a_plugin_may_ask_only_where_there_is_a_terminal(
    mode: str, has_terminal: bool, interactive: bool
) -> None:
    assert is_interactive(ExecSettings(command="p", interactive_mode=mode), has_terminal) is interactive


def test_an_interactive_plugin_without_a_terminal_is_rejected() -> None:
    with pytest.raises(ConfigError, match="must ask on a terminal"):
        is_interactive(ExecSettings(command="p", interactive_mode="Always"), has_terminal=False)


def test_exec_info_contains_the_cluster_only_when_it_is_provided() -> None:
    spec = json.loads(exec_info(ExecSettings(command="p"), interactive=True))["spec"]
    assert spec == {"interactive": True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"api_version": "client.authentication.k8s.io/v1alpha1"},
            "is not served; use client.authentication.k8s.io/v1",
        ),
        ({"interactive_mode": "Sometimes"}, "must be one of Never, IfAvailable, Always"),
    ],
)
def test_old_versions_and_unknown_modes_are_rejected(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ExecPlugin(replace(ExecSettings(command="p"), **change), FakeClock())


def test_no_secret_shows_in_a_printed_credential() -> None:
    shown = repr(parse_credential(printed(token="s3cret"), ExecSettings(command="p")))
    assert "s3cret" not in shown
