from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from steward.local import certificates
from steward.local.certificates import CALLERS, Certificates


@pytest.fixture
def made(tmp_path: Path) -> Certificates:
    return certificates.ensure(tmp_path / "certificates")


def load(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_server_certificate_has_every_name_of_the_server(made: Certificates) -> None:
    names = (
        load(made.server.certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    )
    assert [str(address) for address in names.get_values_for_type(x509.IPAddress)] == [
        "127.0.0.1",
        "10.96.0.1",
    ]
    assert "kubernetes.default.svc" in names.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.name)
def test_each_caller_has_its_own_certificate_signed_by_the_ca(
    made: Certificates, caller: certificates.Caller
) -> None:
    certificate = load(made.client(caller.name).certificate)
    certificate.verify_directly_issued_by(load(made.ca.certificate))
    (user,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert (user.value, tuple(group.value for group in groups)) == (caller.user, caller.groups)


def test_every_leaf_serves_and_calls_since_the_gateway_of_etcd_calls_with_the_server_certificate(
    made: Certificates,
) -> None:
    for pair in (made.server, *(made.client(caller.name) for caller in CALLERS)):
        usages = load(pair.certificate).extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert set(usages) == {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH}


def test_openssl_accepts_every_pair(made: Certificates) -> None:
    for pair in (made.server, *(made.client(caller.name) for caller in CALLERS)):
        ssl.create_default_context(cafile=str(made.ca.certificate)).load_cert_chain(
            pair.certificate, pair.key
        )


def test_keys_are_readable_by_the_owner_only(made: Certificates) -> None:
    for key in made.directory.glob("*.key"):
        assert key.stat().st_mode & 0o777 == 0o600


def test_a_second_start_keeps_the_certificates(made: Certificates) -> None:
    before = made.client("admin").certificate.read_bytes()
    assert certificates.ensure(made.directory).client("admin").certificate.read_bytes() == before


@pytest.mark.parametrize("name", ["ca.crt", "admin.key", "service-accounts.pub", "kwok.crt"])
def test_a_missing_file_renews_the_whole_set(made: Certificates, name: str) -> None:
    before = made.ca.certificate.read_bytes()
    (made.directory / name).unlink()
    certificates.ensure(made.directory)
    assert (made.directory / name).exists()
    assert made.ca.certificate.read_bytes() != before


def test_a_key_of_another_certificate_renews_the_whole_set(made: Certificates) -> None:
    made.client("admin").key.write_bytes(made.client("kwok").key.read_bytes())
    before = made.ca.certificate.read_bytes()
    certificates.ensure(made.directory)
    assert made.ca.certificate.read_bytes() != before


def test_certificates_are_valid_for_ten_years(made: Certificates) -> None:
    left = load(made.server.certificate).not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    assert left > datetime.timedelta(days=3600)


def test_the_webhook_certificate_is_signed_by_the_cluster_ca_and_kept_until_that_changes(
    tmp_path: Path,
) -> None:
    keys = certificates.ensure(tmp_path / "certificates")
    directory = tmp_path / "webhooks"
    certificates.ensure_webhooks(keys, directory)
    first = (directory / "tls.crt").read_bytes()
    assert (directory / "ca.crt").read_bytes() == keys.ca.certificate.read_bytes()
    certificates.ensure_webhooks(Certificates(tmp_path / "certificates"), directory)
    assert (directory / "tls.crt").read_bytes() == first
    (tmp_path / "certificates" / "ca.crt").unlink()
    certificates.ensure_webhooks(certificates.ensure(tmp_path / "certificates"), directory)
    assert (directory / "tls.crt").read_bytes() != first


def test_a_ca_of_an_earlier_version_is_kept_and_signs_the_webhook_certificate(
    made: Certificates, tmp_path: Path
) -> None:
    """Earlier versions wrote a CA without key identifier and key usage, and its key as SEC1."""
    write_earlier_ca(made.ca)
    before = made.ca.certificate.read_bytes()
    certificates.ensure_webhooks(certificates.ensure(made.directory), tmp_path / "webhooks")
    assert made.ca.certificate.read_bytes() == before
    load(tmp_path / "webhooks" / "tls.crt").verify_directly_issued_by(load(made.ca.certificate))


def write_earlier_ca(pair: certificates.Pair) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "steward-local-ca")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=3650))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    pair.certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    sec1, plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, sec1, plain))
