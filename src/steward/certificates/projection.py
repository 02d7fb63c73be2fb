"""Waits until a certificate is on disk, and brings it there where no kubelet does."""

import os
from pathlib import Path

from steward.certificates.authority import KeyPair
from steward.certificates.errors import ProjectionError
from steward.certificates.options import Hook, Trust
from steward.certificates.serving_certificate import CERTIFICATE, KEY
from steward.kube.clock import Clock

POLL_SECONDS = 0.1
PATIENCE = 120.0


async def await_projection(directory: Path, pair: KeyPair, clock: Clock) -> None:
    """Return once the directory holds this certificate: from then on the server shows it."""
    end = clock.monotonic() + PATIENCE
    while not is_projected(directory, pair):
        if clock.monotonic() >= end:
            raise ProjectionError(
                f"{directory / CERTIFICATE} is not the Secret's certificate after {PATIENCE:.0f} s: "
                "is the Secret mounted there?"
            )
        await clock.sleep(POLL_SECONDS)


def is_projected(directory: Path, pair: KeyPair) -> bool:
    try:
        return (directory / CERTIFICATE).read_bytes() == pair.certificate and (
            directory / KEY
        ).read_bytes() == pair.key
    except OSError:
        return False


def write_files(secret: str, directory: Path) -> Hook:
    """A hook that writes the leaf of one Secret to a directory: for operators that run outside a cluster."""

    async def hook(trust: Trust) -> None:
        pair = trust.leaves.get(secret)
        if pair is None or is_projected(directory, pair):
            return
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _put(directory / KEY, pair.key)
        _put(directory / CERTIFICATE, pair.certificate)

    return hook


def _put(file: Path, content: bytes) -> None:
    """Replace a file in one step, readable by us alone."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.touch(mode=0o600)
    fresh.write_bytes(content)
    fresh.replace(file)
