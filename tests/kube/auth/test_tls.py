"""TLS with the real API server: server and client certificates."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from steward.kube import errors
from steward.kube.auth.rotated_file import CHECK_SECONDS
from steward.kube.auth.tls import ClientCertificate, TlsContexts
from steward.kube.client.client import Client, connect
from steward.kube.config.settings import ConnectionSettings, Pem, TlsSettings
from steward.kube.transport.transport import TransportOptions
from steward.testkit.clock import FakeClock
from tests.kube.support.signing import signed
from tests.kube.support.whoami import connect_and_ask_user, user_name


def with_tls(settings: ConnectionSettings, tls: TlsSettings, server: str = "") -> ConnectionSettings:
    return replace(settings, tls=tls, server=server or settings.server)


async def test_a_certificate_makes_us_its_user(client: Client, settings: ConnectionSettings) -> None:
    certificate, key = await signed(client, "ann")
    tls = replace(settings.tls, certificate=Pem(data=certificate), key=Pem(data=key))
    assert await connect_and_ask_user(with_tls(settings, tls)) == "ann"


async def test_a_bundle_that_the_environment_names_is_trusted(
    settings: ConnectionSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundle = tmp_path / "company-ca.crt"
    bundle.write_bytes(settings.tls.authority.data)
    system = with_tls(settings, replace(settings.tls, authority=Pem()))
    with pytest.raises(errors.TlsError):
        await connect_and_ask_user(system)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    assert await connect_and_ask_user(system) == await connect_and_ask_user(settings)


async def test_a_system_without_memory_files_uses_a_temporary_one(
    client: Client, settings: ConnectionSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    certificate, key = await signed(client, "ann")
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tls = replace(settings.tls, certificate=Pem(data=certificate), key=Pem(data=key))
    assert await connect_and_ask_user(with_tls(settings, tls)) == "ann"
    assert list(tmp_path.iterdir()) == []


async def test_certificate_files_that_rotate_are_taken_up_without_a_restart(
    client: Client, settings: ConnectionSettings, tmp_path: Path
) -> None:
    clock = FakeClock()
    certificate, key, authority = tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt"
    authority.write_bytes(settings.tls.authority.data)
    tls = TlsSettings(
        authority=Pem(file=str(authority)), certificate=Pem(file=str(certificate)), key=Pem(file=str(key))
    )

    async def rotate(user: str) -> None:
        for path, content in zip((certificate, key), await signed(client, user), strict=True):
            path.write_bytes(content)

    await rotate("first")
    rotating = await connect(with_tls(settings, tls), TransportOptions(clock=clock))
    assert await user_name(rotating) == "first"
    await rotate("second")
    assert await user_name(rotating) == "first"
    clock.advance(CHECK_SECONDS)
    assert await user_name(rotating) == "second"
    await rotating.close()


async def test_a_server_certificate_of_another_authority_is_rejected(
    client: Client, settings: ConnectionSettings
) -> None:
    stranger, _ = await signed(client, "not-an-authority")
    tls = replace(settings.tls, authority=Pem(data=stranger))
    with pytest.raises(errors.TlsError, match=r"Check certificate-authority of this cluster"):
        await connect_and_ask_user(with_tls(settings, tls))


async def test_without_an_authority_the_system_ones_are_trusted(settings: ConnectionSettings) -> None:
    with pytest.raises(errors.TlsError, match="Check certificate-authority"):
        await connect_and_ask_user(with_tls(settings, replace(settings.tls, authority=Pem())))


async def test_an_insecure_connection_asks_no_certificate_of_the_server(settings: ConnectionSettings) -> None:
    tls = replace(settings.tls, authority=Pem(), insecure=True)
    assert await connect_and_ask_user(with_tls(settings, tls))


async def test_tls_server_name_is_the_name_that_is_checked(settings: ConnectionSettings) -> None:
    for good in ("kubernetes.default.svc", "localhost"):
        assert await connect_and_ask_user(with_tls(settings, replace(settings.tls, server_name=good)))
    with pytest.raises(
        errors.TlsError, match="Set tls-server-name to a name that the server's certificate holds"
    ):
        await connect_and_ask_user(with_tls(settings, replace(settings.tls, server_name="other.test")))


async def test_a_plain_server_behind_https_is_a_tls_error(settings: ConnectionSettings) -> None:
    async def answer_without_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(answer_without_tls, "127.0.0.1", 0)
    address = f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    with pytest.raises(errors.TlsError, match="that the address is that of a TLS server"):
        await connect_and_ask_user(replace(settings, server=address))
    listener.close()
    await listener.wait_closed()


def test_the_context_is_kept_until_a_certificate_or_the_authority_changes(
    settings: ConnectionSettings, tmp_path: Path
) -> None:
    clock, authority = FakeClock(), tmp_path / "ca.crt"
    authority.write_bytes(settings.tls.authority.data)
    contexts = TlsContexts(replace(settings.tls, authority=Pem(file=str(authority))), clock)
    first = contexts.current(None)
    clock.advance(60)
    assert contexts.current(None) is first
    authority.write_bytes(settings.tls.authority.data + b"\n")
    clock.advance(CHECK_SECONDS)
    assert contexts.current(None) is not first


async def test_a_half_written_rotation_leaves_the_old_certificate_in_force(
    client: Client, tmp_path: Path
) -> None:
    clock, certificate, key = FakeClock(), tmp_path / "tls.crt", tmp_path / "tls.key"
    tls = TlsSettings(insecure=True, certificate=Pem(file=str(certificate)), key=Pem(file=str(key)))
    old, new = await signed(client, "old"), await signed(client, "new")
    certificate.write_bytes(old[0])
    key.write_bytes(old[1])
    contexts = TlsContexts(tls, clock)
    first = contexts.current(None)
    certificate.write_bytes(new[0])
    clock.advance(CHECK_SECONDS)
    assert contexts.current(None) is first
    key.write_bytes(new[1])
    clock.advance(CHECK_SECONDS)
    assert contexts.current(None) is not first


@pytest.mark.parametrize(
    ("certificate", "key"), [(b"junk", b"junk"), (b"", b"x")], ids=["no PEM", "no certificate"]
)
def test_a_certificate_that_cannot_be_used_is_a_config_error(certificate: bytes, key: bytes) -> None:
    contexts = TlsContexts(TlsSettings(insecure=True), FakeClock())
    with pytest.raises(errors.ConfigError, match="both must be PEM, belong together, and be unencrypted"):
        contexts.current(ClientCertificate(certificate, key))


def test_an_authority_that_is_no_pem_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ca.crt"
    path.write_text("not a certificate")
    contexts = TlsContexts(TlsSettings(authority=Pem(file=str(path))), FakeClock())
    with pytest.raises(errors.ConfigError, match=f"{path} holds no PEM certificates"):
        contexts.current(None)
