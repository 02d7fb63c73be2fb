"""Connections to the real API server with tokens, plugins, proxies and kubeconfig files."""

import json
import ssl
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from steward.kube import errors
from steward.kube.auth.rotated_file import CHECK_SECONDS
from steward.kube.client.client import Client, ListQuery, connect
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.settings import AuthSettings, ConnectionSettings, ExecSettings, Impersonation, Pem
from steward.kube.objects.kinds import NAMESPACE
from steward.kube.transport.request import Request
from steward.kube.transport.retry import RetryPolicy
from steward.kube.transport.transport import Transport, TransportOptions
from steward.local.control_plane import ControlPlane
from steward.testkit.clock import FakeClock
from tests.kube.support.connect_proxy import proxying
from tests.kube.support.instant_clock import InstantClock
from tests.kube.support.signing import signed
from tests.kube.support.whoami import connect_and_ask_user, user_name

V1 = "client.authentication.k8s.io/v1"


@pytest.fixture
async def transport(settings: ConnectionSettings) -> AsyncIterator[Transport]:
    transport = Transport(settings)
    yield transport
    await transport.close()


async def token_of(transport: Transport, namespace: str, seconds: int = 3600) -> str:
    """A real token of the namespace's default service account."""
    spec = {"expirationSeconds": seconds}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    answer = await transport.request(Request(method="POST", path=path, body=msgspec.json.encode(body)))
    token: str = msgspec.json.decode(answer.body)["status"]["token"]
    return token


def without_certificate(settings: ConnectionSettings, auth: AuthSettings) -> ConnectionSettings:
    return replace(settings, tls=replace(settings.tls, certificate=Pem(), key=Pem()), auth=auth)


def plugin(folder: Path, *prints: dict[str, Any]) -> ExecSettings:
    """A plugin that prints these statuses in turn, and repeats the last one."""
    for number, status in enumerate(prints, start=1):
        credential = {"apiVersion": V1, "kind": "ExecCredential", "status": status}
        (folder / str(number)).write_text(json.dumps(credential))
    script = folder / "plugin"
    script.write_text(
        f"#!/bin/sh\ncd {folder}; echo run >> runs; n=$(wc -l < runs)\n[ -e $n ] || n={len(prints)}\ncat $n\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return ExecSettings(command=str(script), interactive_mode="Never")


async def test_a_rotated_token_file_changes_the_user(
    transport: Transport, settings: ConnectionSettings, namespace: str, tmp_path: Path
) -> None:
    clock, path = FakeClock(), tmp_path / "token"
    path.write_text("not a token")
    rotating = await connect(
        without_certificate(settings, AuthSettings(token_file=str(path))), TransportOptions(clock=clock)
    )
    with pytest.raises(errors.Unauthorized):
        await user_name(rotating)
    path.write_text(await token_of(transport, namespace))
    clock.advance(CHECK_SECONDS)
    assert await user_name(rotating) == f"system:serviceaccount:{namespace}:default"
    await rotating.close()


async def test_a_plugins_token_is_accepted(
    transport: Transport, settings: ConnectionSettings, namespace: str, tmp_path: Path
) -> None:
    auth = AuthSettings(plugin=plugin(tmp_path, {"token": await token_of(transport, namespace)}))
    assert (
        await connect_and_ask_user(without_certificate(settings, auth))
        == f"system:serviceaccount:{namespace}:default"
    )


async def test_a_plugin_runs_again_when_the_server_rejects_its_token(
    transport: Transport, settings: ConnectionSettings, namespace: str, tmp_path: Path
) -> None:
    token = await token_of(transport, namespace)
    auth = AuthSettings(plugin=plugin(tmp_path, {"token": "revoked"}, {"token": token}))
    assert (
        await connect_and_ask_user(without_certificate(settings, auth))
        == f"system:serviceaccount:{namespace}:default"
    )
    assert (tmp_path / "runs").read_text().count("run") == 2


async def test_a_plugins_certificate_is_presented(
    client: Client, settings: ConnectionSettings, tmp_path: Path
) -> None:
    certificate, key = (part.decode() for part in await signed(client, "by-plugin"))
    status = {"clientCertificateData": certificate, "clientKeyData": key}
    auth = AuthSettings(plugin=plugin(tmp_path, status))
    assert await connect_and_ask_user(without_certificate(settings, auth)) == "by-plugin"


async def test_a_pod_connects_with_its_mounted_service_account(
    transport: Transport, settings: ConnectionSettings, namespace: str, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(await token_of(transport, namespace))
    (tmp_path / "ca.crt").write_bytes(settings.tls.authority.data)
    (tmp_path / "namespace").write_text(namespace)
    host, _, port = settings.server.removeprefix("https://").partition(":")
    pod = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    found = load_settings(ConfigSource(environ=pod, service_account=tmp_path))
    assert found.namespace == namespace
    assert await connect_and_ask_user(found) == f"system:serviceaccount:{namespace}:default"


async def test_two_kubeconfig_files_with_relative_paths_make_one_connection(
    client: Client, settings: ConnectionSettings, tmp_path: Path
) -> None:
    certificate, key = await signed(client, "by-file")
    for name, content in (("u.crt", certificate), ("u.key", key), ("ca.crt", settings.tls.authority.data)):
        (tmp_path / name).write_bytes(content)
    cluster = {"server": settings.server, "certificate-authority": "ca.crt"}
    user = {"client-certificate": "u.crt", "client-key": "u.key"}
    (tmp_path / "one").write_text(yaml.safe_dump({"clusters": [{"name": "c", "cluster": cluster}]}))
    rest = {
        "current-context": "x",
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    (tmp_path / "two").write_text(yaml.safe_dump(rest))
    environ = {"KUBECONFIG": f"{tmp_path}/one:{tmp_path}/two"}
    assert await connect_and_ask_user(load_settings(ConfigSource(environ=environ))) == "by-file"


async def test_a_kubeconfig_may_act_as_someone_else(settings: ConnectionSettings) -> None:
    who = Impersonation(user="someone", groups=("system:authenticated",))
    assert await connect_and_ask_user(replace(settings, impersonation=who)) == "someone"


def test_impersonation_headers_are_encoded_as_the_server_decodes_them() -> None:
    who = Impersonation(user="u", uid="1", groups=("a", "b"), extra={"x.y/z%": ("1", "2")})
    assert who.headers() == (
        ("Impersonate-User", "u"),
        ("Impersonate-Uid", "1"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-x.y%2Fz%25", "1"),
        ("Impersonate-Extra-x.y%2Fz%25", "2"),
    )


async def test_proxy_url_carries_every_call_even_to_this_machine(settings: ConnectionSettings) -> None:
    async with proxying() as proxy:
        assert await connect_and_ask_user(replace(settings, proxy=f"http://{proxy.address}"))
    assert set(proxy.tunnels) == {settings.server.removeprefix("https://")}


async def test_https_proxy_leads_to_a_server_that_only_the_proxy_can_find(
    settings: ConnectionSettings,
) -> None:
    port = settings.server.rpartition(":")[2]
    hidden = replace(
        settings,
        server=f"https://api.hidden.test:{port}",
        tls=replace(settings.tls, server_name="kubernetes.default.svc"),
    )
    async with proxying({"api.hidden.test": "127.0.0.1"}) as proxy:
        environ = {"HTTPS_PROXY": f"http://{proxy.address}", "NO_PROXY": "other.test"}
        client = await connect(hidden, TransportOptions(environ=environ))
        assert (await client.list(NAMESPACE, ListQuery(limit=1))).items
        assert await user_name(client)
        await client.close()
    assert set(proxy.tunnels) == {f"api.hidden.test:{port}"}


async def test_a_server_named_in_no_proxy_is_reached_directly(settings: ConnectionSettings) -> None:
    async with proxying() as proxy:
        local = {"HTTPS_PROXY": f"http://{proxy.address}"}
        client = await connect(settings, TransportOptions(environ=local))
        assert await user_name(client)
        await client.close()
    assert proxy.tunnels == []


async def test_a_proxy_may_want_a_password(settings: ConnectionSettings) -> None:
    async with proxying(password="ann:s3cret") as proxy:
        assert await connect_and_ask_user(replace(settings, proxy=f"http://ann:s3cret@{proxy.address}"))
        refused = replace(settings, proxy=f"http://ann:wrong@{proxy.address}")
        options = TransportOptions(clock=InstantClock(), retry=RetryPolicy(attempts=1))
        client = await connect(refused, options)
        with pytest.raises(
            errors.Unreachable, match=r"the proxy did not connect us to .*: it answered 407"
        ) as caught:
            await user_name(client)
        await client.close()
    assert "wrong" not in str(caught.value)


async def test_a_proxy_may_itself_speak_tls(
    settings: ConnectionSettings, control_plane: ControlPlane
) -> None:
    folder = control_plane.ca_file.parent
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "server.crt", folder / "server.key")
    async with proxying(tls=tls) as proxy:
        assert await connect_and_ask_user(replace(settings, proxy=f"https://{proxy.address}"))
    assert proxy.tunnels
