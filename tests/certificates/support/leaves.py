"""Certificates in the directory of a server."""

import time
from pathlib import Path

from steward.certificates.authority import KeyPair, Profile, Subject, Validity, make_authority, sign_leaf

SUBJECT = Subject("webhook", ("tests",))


def one_hour() -> Validity:
    return Validity(time.time() - 60, time.time() + 3600)


def new_authority() -> KeyPair:
    return make_authority(SUBJECT, one_hour())


def write_leaf(directory: Path, authority: KeyPair) -> KeyPair:
    """Write a new server certificate for loopback, as a Secret volume would hold it."""
    leaf = sign_leaf(authority, Profile(SUBJECT, ("localhost",), ("127.0.0.1",)), one_hour())
    (directory / "tls.crt").write_bytes(leaf.certificate)
    (directory / "tls.key").write_bytes(leaf.key)
    return leaf
