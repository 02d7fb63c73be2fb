from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from steward.local import certificates
from steward.local.certificates import CALLERS, Certificates


@pytest.fixture
def made(tmp_path: Path) -> Certificates:
    return certificates.ensure(tmp_path / "certificates")


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_server_is_known_by_every_name_it_is_called_by(made: Certificates) -> None:
    names = (
        load(made.server.certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    )
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == [
        "127.0.0.1",
        "10.96.0.1",
    ]
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.name)
def test_each_caller_has_a_certificate_of_its_own_by_the_ca(
    made: Certificates, caller: certificates.Caller
) -> None:
    certificate = load(made.client(caller.name).certificate)
    certificate.verify_directly_issued_by(load(made.ca.certificate))
    (user,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert (user.value, tuple(group.value for group in groups)) == (caller.user, caller.groups)


def test_openssl_takes_every_pair(made: Certificates) -> None:
    for pair in (made.server, *(made.client(caller.name) for caller in CALLERS)):
        ssl.create_default_context(cafile=str(made.ca.certificate)).load_cert_chain(
            pair.certificate, pair.key
        )


def test_keys_are_for_the_owner_alone(made: Certificates) -> None:
    for key in made.directory.glob("*.key"):
        assert key.stat().st_mode & 0o777 == 0o600


def test_a_second_start_finds_the_same_certificates(made: Certificates) -> None:
    before = made.client("admin").certificate.read_bytes()
    assert certificates.ensure(made.directory).client("admin").certificate.read_bytes() == before


@pytest.mark.parametrize("name", ["ca.crt", "admin.key", "service-accounts.pub", "kwok.crt"])
def test_a_missing_file_makes_the_set_anew(made: Certificates, name: str) -> None:
    before = made.ca.certificate.read_bytes()
    (made.directory / name).unlink()
    certificates.ensure(made.directory)
    assert (made.directory / name).exists()
    assert made.ca.certificate.read_bytes() != before


def test_a_key_of_another_certificate_makes_the_set_anew(made: Certificates) -> None:
    made.client("admin").key.write_bytes(made.client("kwok").key.read_bytes())
    before = made.ca.certificate.read_bytes()
    certificates.ensure(made.directory)
    assert made.ca.certificate.read_bytes() != before


def test_they_last_ten_years(made: Certificates) -> None:
    left = load(made.server.certificate).not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    assert left > datetime.timedelta(days=3600)
