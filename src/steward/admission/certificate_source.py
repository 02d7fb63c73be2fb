"""Whose certificates a server shows: our own, or those that someone else mounts (cert-manager, as a rule)."""

from enum import StrEnum
from pathlib import Path

from steward.certificates.options import KeeperOptions, Leaf
from steward.certificates.secret_store import CERT_MANAGER, SELF_SIGNED, STRATEGY, KeptSecret, KeptSecrets
from steward.certificates.serving_certificate import CERTIFICATE, KEY
from steward.kube.client.client import Client


class Strategy(StrEnum):
    SELF_SIGNED = "self-signed"
    MOUNTED = "mounted"


def decide_strategy(
    *, files_are_there: bool, leaf: KeptSecret | None, authority: KeptSecret | None
) -> Strategy:
    """Files that nobody of ours can have made are someone else's, and are used as they are.

    The mark on the leaf's Secret tells ours. An authority tells it too: Secrets made before there was a mark.
    """
    if not files_are_there:
        return Strategy.SELF_SIGNED
    if leaf is not None and leaf.has_annotation(CERT_MANAGER):
        return Strategy.MOUNTED
    marked = leaf is not None and leaf.has_annotation(STRATEGY, SELF_SIGNED)
    return Strategy.SELF_SIGNED if marked or authority is not None else Strategy.MOUNTED


async def find_strategy(client: Client, options: KeeperOptions, leaf: Leaf, directory: Path) -> Strategy:
    """Look at the directory and the Secrets, and decide."""
    secrets = KeptSecrets(client, options)
    return decide_strategy(
        files_are_there=(directory / CERTIFICATE).exists() and (directory / KEY).exists(),
        leaf=await secrets.read(leaf.secret),
        authority=await secrets.read(options.ca_secret),
    )
