from __future__ import annotations

import asyncio
import logging
import ssl
import tempfile
from functools import cache
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from cryptography import x509

from steward.runtime.observability.http_server import (
    Address,
    CertificateFiles,
    HttpServer,
    ReloadingTls,
    ServingError,
    parse_address,
    self_signed_files,
    self_signed_tls,
)
from steward.testkit.clock import FakeClock

LOOPBACK = Address("127.0.0.1", 0)


@cache
def certificate_of(name: str) -> tuple[bytes, bytes]:
    """A certificate and its key. Made once for each name, by a subprocess."""
    with tempfile.TemporaryDirectory() as directory:
        files = self_signed_files(Path(directory), (name,))
        return files.certificate.read_bytes(), files.key.read_bytes()


def write_files(directory: Path, name: str) -> CertificateFiles:
    files = CertificateFiles(directory / "tls.crt", directory / "tls.key")
    certificate, key = certificate_of(name)
    files.certificate.write_bytes(certificate)
    files.key.write_bytes(key)
    return files


async def page(request: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="hello")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (":8081", Address("", 8081)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:443", Address("::1", 443)),
        ("0", None),
        ("", None),
    ],
)
def test_an_address_is_read_as_users_write_it(text: str, address: Address | None) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["8081", "host", "host:", "host:port", ":99999"])
def test_an_invalid_address_is_rejected_with_the_cure(text: str) -> None:
    with pytest.raises(ServingError, match="write HOST:PORT, :PORT or 0"):
        parse_address(text)


async def test_a_port_in_use_is_reported_in_one_sentence() -> None:
    first = HttpServer(LOOPBACK, {"/": page})
    await first.start()
    with pytest.raises(ServingError, match=rf"cannot listen on 127.0.0.1:{first.port}: .*in use"):
        await HttpServer(Address("127.0.0.1", first.port), {"/": page}).start()
    await first.stop()


async def test_without_a_certificate_a_self_signed_one_is_made() -> None:
    server = HttpServer(LOOPBACK, {"/": page}, self_signed_tls(FakeClock()))
    await server.start()
    url = f"https://127.0.0.1:{server.port}/"
    async with aiohttp.ClientSession() as session, session.get(url, ssl=False) as answer:
        assert await answer.text() == "hello"
    await server.stop()


async def test_the_files_of_a_self_signed_certificate_are_not_checked_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await self_signed_tls(FakeClock()).reload_on_change()
    assert not caplog.records


async def test_a_renewed_certificate_is_served_without_a_restart(tmp_path: Path) -> None:
    files = write_files(tmp_path, "first")
    clock = FakeClock()
    tls = ReloadingTls(files, clock)
    server = HttpServer(LOOPBACK, {"/": page}, tls)
    await server.start()
    before = await _subject_over_tls(server.port)
    write_files(tmp_path, "second")
    await clock.pass_time(11)
    after = await _subject_over_tls(server.port)
    await server.stop()
    assert (before, after) == ("first", "second")


async def _subject_over_tls(port: int) -> str:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    (name,) = x509.load_der_x509_certificate(der).subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(name.value)


async def test_half_written_files_leave_the_old_certificate_in_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = write_files(tmp_path, "first")
    tls = ReloadingTls(files, FakeClock())
    files.key.write_text("half")
    tls.reload_if_changed()
    assert "cannot be used" in caplog.text
    write_files(tmp_path, "second")
    with caplog.at_level(logging.INFO):
        tls.reload_if_changed()
    assert "reloaded certificate" in caplog.text


def test_a_missing_certificate_is_reported_in_one_sentence(tmp_path: Path) -> None:
    files = write_files(tmp_path, "first")
    files.certificate.unlink()
    with pytest.raises(ServingError, match=r"certificate .*tls\.crt cannot be used"):
        ReloadingTls(files, FakeClock())


def test_the_key_of_a_self_signed_certificate_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    assert self_signed_files(tmp_path, ("first",)).key.stat().st_mode & 0o077 == 0
