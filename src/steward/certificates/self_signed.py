"""Writes a self-signed certificate and its key to files, from a subprocess.

    python -P -m steward.certificates.self_signed CERTIFICATE KEY DAYS NAME [NAME ...]

Importing `cryptography` takes a fifth of an idle operator's memory and the process never gives it back, for one
certificate per process. So a subprocess makes it and exits.
"""

import subprocess
import sys
import time
from pathlib import Path

from steward.certificates.authority import Profile, Subject, Validity, make_self_signed
from steward.certificates.errors import CertificateError
from steward.certificates.options import DAY, HOUR

SELF_SIGNED_DAYS = 365


def write_self_signed(certificate: Path, key: Path, names: tuple[str, ...]) -> None:
    """The first name is the common name; all are DNS names."""
    files = [str(certificate), str(key)]
    command = [sys.executable, "-P", "-m", __name__, *files, str(SELF_SIGNED_DAYS), *names]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise CertificateError(f"cannot make a self-signed certificate: {error.stderr.strip()}") from error


def main(certificate: str, key: str, days: str, *names: str) -> None:
    start = time.time() - HOUR
    validity = Validity(start, start + int(days) * DAY)
    pair = make_self_signed(Profile(Subject(names[0]), dns_names=names), validity)
    Path(certificate).write_bytes(pair.certificate)
    Path(key).touch(mode=0o600)
    Path(key).write_bytes(pair.key)


if __name__ == "__main__":
    main(*sys.argv[1:])
