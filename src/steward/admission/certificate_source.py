"""Decides which certificate the webhook server uses: our own, or one mounted by cert-manager or another issuer."""

from enum import StrEnum
from pathlib import Path

from steward.certificates.options import KeeperOptions, Leaf
from steward.certificates.secret_store import (
    CERT_MANAGER,
    SELF_SIGNED,
    STRATEGY,
    CertificateSecret,
    CertificateSecrets,
)
from steward.certificates.serving_certificate import CERTIFICATE, KEY
from steward.kube.client.client import Client


class CertificateStrategy(StrEnum):
    SELF_SIGNED = "self-signed"
    MOUNTED = "mounted"


def decide_strategy(
    *, files_are_there: bool, leaf: CertificateSecret | None, authority: CertificateSecret | None
) -> CertificateStrategy:
    """Mounted files are used as they are unless this operator made them.

    The annotation on the leaf's Secret shows that. An authority shows it, too: older Secrets have no annotation.
    """
    if not files_are_there:
        return CertificateStrategy.SELF_SIGNED
    if leaf is not None and leaf.has_annotation(CERT_MANAGER):
        return CertificateStrategy.MOUNTED
    marked = leaf is not None and leaf.has_annotation(STRATEGY, SELF_SIGNED)
    return CertificateStrategy.SELF_SIGNED if marked or authority is not None else CertificateStrategy.MOUNTED


async def find_strategy(
    client: Client, options: KeeperOptions, leaf: Leaf, directory: Path
) -> CertificateStrategy:
    """Reads the directory and the Secrets, and decides."""
    secrets = CertificateSecrets(client, options)
    return decide_strategy(
        files_are_there=(directory / CERTIFICATE).exists() and (directory / KEY).exists(),
        leaf=await secrets.read(leaf.secret),
        authority=await secrets.read(options.ca_secret),
    )
