import json
import stat
from pathlib import Path

import pytest

from steward.kube.auth.credentials import credentials_for
from steward.kube.config.settings import AuthSettings, ExecSettings
from steward.kube.errors import ConfigError
from steward.testkit.clock import FakeClock


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        (AuthSettings(), ""),
        (AuthSettings(token="t"), "Bearer t"),
        (AuthSettings(username="ann", password="p:w"), "Basic YW5uOnA6dw=="),
        (AuthSettings(token="t", plugin=ExecSettings(command="never-run")), "Bearer t"),
    ],
)
async def test_fixed_credentials_are_presented_as_a_header(auth: AuthSettings, header: str) -> None:
    assert (await credentials_for(auth, FakeClock()).current()).authorization == header


async def test_a_token_file_wins_over_its_token_and_is_read_again(tmp_path: Path) -> None:
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("first\n")
    credentials = credentials_for(AuthSettings(token="stale", token_file=str(path)), clock)
    assert (await credentials.current()).authorization == "Bearer first"
    path.write_text("second\n")
    clock.advance(60)
    assert (await credentials.current()).authorization == "Bearer second"


async def test_a_rejected_token_file_is_read_again_at_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    credentials = credentials_for(AuthSettings(token_file=str(path)), FakeClock())
    first = await credentials.current()
    path.write_text("second")
    credentials.rejected(first)
    assert (await credentials.current()).authorization == "Bearer second"


async def test_an_empty_token_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(" \n")
    with pytest.raises(ConfigError, match=f"{path} holds no token"):
        await credentials_for(AuthSettings(token_file=str(path)), FakeClock()).current()


async def test_a_plugin_runs_again_only_when_its_current_credential_was_rejected(tmp_path: Path) -> None:
    script = tmp_path / "plugin"
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    text = json.dumps({**credential, "status": {"token": "TOKEN"}}).replace("TOKEN", "'$n'")
    script.write_text(
        f"#!/bin/sh\necho run >> {tmp_path}/runs; n=$(wc -l < {tmp_path}/runs); echo '{text}'\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    plugin = ExecSettings(command=str(script), interactive_mode="Never")
    credentials = credentials_for(AuthSettings(plugin=plugin), FakeClock())
    first = await credentials.current()
    credentials.rejected(first)
    second = await credentials.current()
    credentials.rejected(first)
    assert (await credentials.current()) is second
    assert (first.authorization, second.authorization) == ("Bearer 1", "Bearer 2")
