import ssl
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import NameOID

from steward.certificates.authority import (
    KeyPair,
    Profile,
    Subject,
    Usage,
    Validity,
    make_authority,
    make_self_signed,
    sign_leaf,
)
from steward.certificates.errors import UnusableCertificateError
from steward.certificates.x509 import is_signed_by, read_certificate, read_pair

NOW = 1_800_000_000.0
NAME = Subject("webhook CA", ("Shop",))


@pytest.fixture(scope="module")
def authority():
    return make_authority(NAME, Validity(NOW, NOW + 1000))


def test_an_authority_is_one_for_ten_seconds_or_ten_years(authority):
    facts = read_pair(*authority)
    assert (facts.not_before, facts.not_after, facts.is_authority) == (NOW, NOW + 1000, True)
    assert facts.common_name.startswith("webhook CA ")


def test_two_authorities_never_share_a_name(authority):
    other = make_authority(NAME, Validity(NOW, NOW + 1000))
    assert (
        read_certificate(other.certificate).common_name != read_certificate(authority.certificate).common_name
    )


def test_keys_are_on_the_curve_p_256(authority):
    assert load_pem_private_key(authority.key, None).curve.name == "secp256r1"


def test_a_leaf_has_the_content_of_its_profile(authority):
    both = (Usage.SERVER, Usage.CLIENT)
    profile = Profile(Subject("a.shop.svc", ("Shop",)), ("a.shop.svc", "a"), ("10.0.0.1", "::1"), both)
    leaf = sign_leaf(authority, profile, Validity(NOW, NOW + 100))
    facts = read_pair(*leaf)
    assert (facts.dns_names, facts.ip_addresses) == ({"a.shop.svc", "a"}, {"10.0.0.1", "::1"})
    assert (facts.usages, facts.is_authority, facts.not_after) == (set(both), False, NOW + 100)
    assert is_signed_by(leaf.certificate, authority.certificate)


def test_a_leaf_is_never_valid_longer_than_its_authority(authority):
    leaf = sign_leaf(authority, Profile(NAME, ("a",)), Validity(NOW, NOW + 10**6))
    assert read_certificate(leaf.certificate).not_after == NOW + 1000


def test_names_that_are_too_long_for_a_subject_are_truncated_there_only(authority):
    long = "very-long-" * 9 + "name"
    leaf = sign_leaf(authority, Profile(Subject(long, (long,)), (long,)), Validity(NOW, NOW + 100))
    facts = read_certificate(leaf.certificate)
    assert (facts.common_name, facts.dns_names) == (long[:64], {long})


def test_a_subject_may_have_several_organizations_or_none(authority):
    groups = Profile(Subject("admin", ("system:masters", "staff")), usages=(Usage.CLIENT,))
    leaf = sign_leaf(authority, groups, Validity(NOW, NOW + 100))
    subject = x509.load_pem_x509_certificate(leaf.certificate).subject
    assert [str(name.value) for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == [
        "system:masters",
        "staff",
    ]


def test_a_self_signed_leaf_is_signed_by_its_own_key_and_is_no_authority():
    pair = make_self_signed(Profile(Subject("a"), ("a",)), Validity(NOW, NOW + 100))
    facts = read_pair(*pair)
    assert (facts.common_name, facts.dns_names, facts.is_authority) == ("a", {"a"}, False)
    assert is_signed_by(pair.certificate, pair.certificate)


def test_a_key_never_shows_in_a_repr(authority):
    assert "PRIVATE" not in repr(authority)


def test_openssl_accepts_the_chain(authority):
    trust = ssl.create_default_context(cadata=authority.certificate.decode())
    assert trust.cert_store_stats()["x509_ca"] == 1


def test_cryptography_is_not_imported_before_a_key_is_made():
    code = "import sys, steward.admission.service; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=300).returncode == 0


def foreign_authority(key, key_format):
    """An authority as another program may make it: without a key identifier, with another key format."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "someone else")])
    builder = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.fromtimestamp(NOW, UTC))
        .not_valid_after(datetime.fromtimestamp(NOW + 1000, UTC))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    certificate = builder.sign(key, algorithm).public_bytes(Encoding.PEM)
    return KeyPair(certificate, key.private_bytes(Encoding.PEM, key_format, NoEncryption()))


@pytest.mark.parametrize(
    "key",
    [ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 2048)],
    ids=["ECDSA", "RSA"],
)
def test_an_authority_made_by_another_program_can_sign(key):
    foreign = foreign_authority(key, PrivateFormat.TraditionalOpenSSL)
    leaf = sign_leaf(foreign, Profile(NAME, ("a",)), Validity(NOW, NOW + 100))
    assert read_pair(*foreign).is_authority
    assert is_signed_by(leaf.certificate, foreign.certificate)


def test_an_unsupported_key_is_an_error_with_the_cure():
    foreign = foreign_authority(ed25519.Ed25519PrivateKey.generate(), PrivateFormat.PKCS8)
    with pytest.raises(UnusableCertificateError, match="delete its Secret, and the operator makes a new one"):
        sign_leaf(foreign, Profile(NAME, ("a",)), Validity(NOW, NOW + 100))
