"""Certificates on disk: waits until the kubelet has mounted one, or writes it where there is no kubelet."""

import os
from pathlib import Path

from steward.certificates.authority import KeyPair
from steward.certificates.errors import ProjectionError
from steward.certificates.options import Hook, Trust
from steward.certificates.serving_certificate import CERTIFICATE, KEY
from steward.kube.clock import Clock

POLL_SECONDS = 0.1
TIMEOUT_SECONDS = 120.0


async def wait_for_projection(directory: Path, pair: KeyPair, clock: Clock) -> None:
    """Return once the directory holds this certificate, which the server then uses."""
    end = clock.monotonic() + TIMEOUT_SECONDS
    while not is_projected(directory, pair):
        if clock.monotonic() >= end:
            raise ProjectionError(
                f"{directory / CERTIFICATE} is not the Secret's certificate after {TIMEOUT_SECONDS:.0f} s: "
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


def write_leaf_files(secret: str, directory: Path) -> Hook:
    """A hook that writes the leaf of one Secret to a directory, for operators outside a cluster."""

    async def hook(trust: Trust) -> None:
        pair = trust.leaves.get(secret)
        if pair is None or is_projected(directory, pair):
            return
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _replace_file(directory / KEY, pair.key)
        _replace_file(directory / CERTIFICATE, pair.certificate)

    return hook


def _replace_file(file: Path, content: bytes) -> None:
    """Replace a file atomically, readable by this user only."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.touch(mode=0o600)
    temporary.write_bytes(content)
    temporary.replace(file)
