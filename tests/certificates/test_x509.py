import pytest

from steward.certificates.authority import Profile, Subject, Validity, make_authority, sign_leaf
from steward.certificates.x509 import is_signed_by, read_certificate, read_pair, split_bundle

SPAN = Validity(1_800_000_000.0, 1_800_001_000.0)
NAME = Subject("x", ("tests",))
ONE, TWO = (make_authority(NAME, SPAN) for _ in range(2))
LEAF = sign_leaf(ONE, Profile(NAME, ("a",)), SPAN)


@pytest.mark.parametrize(
    ("certificate", "key"),
    [
        (b"", b""),
        (LEAF.certificate, b""),
        (b"", LEAF.key),
        (LEAF.certificate, ONE.key),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", LEAF.key),
        (LEAF.certificate, LEAF.key[:-40]),
    ],
)
def test_a_certificate_and_another_key_are_no_pair(certificate, key):
    assert read_pair(certificate, key) is None


def test_the_signature_shows_the_issuer():
    assert is_signed_by(LEAF.certificate, ONE.certificate)
    assert not is_signed_by(LEAF.certificate, TWO.certificate)
    assert not is_signed_by(b"junk", ONE.certificate)
    assert not is_signed_by(LEAF.certificate, b"")


def test_a_bundle_is_split_into_distinct_certificates():
    bundle = ONE.certificate + TWO.certificate + ONE.certificate
    assert split_bundle(bundle) == (ONE.certificate, TWO.certificate)
    assert split_bundle(b"") == split_bundle(b"junk") == ()


def test_an_invalid_certificate_has_no_facts():
    assert read_certificate(b"junk") is None
