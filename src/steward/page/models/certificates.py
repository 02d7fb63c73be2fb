"""The certificates of a cluster: those of the backup service of each shard. Pure.

Their Secrets are named and never read: the operator reports in the status of the Shard when a certificate ends.
"""

from __future__ import annotations

from typing import Final

import msgspec

from steward.certificates.options import Lifetimes
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import condition
from steward.cli.primary_switchover import shard_label
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.objects.shard_inputs import certificate_secret
from steward.multigres.status.conditions import CERTIFICATES_READY
from steward.multigres.views import ShardView
from steward.page.models.structs import Model

OPERATOR: Final = "the operator"
USER: Final = "its owner"


class CertificateLine(Model, frozen=True):
    """`left` is the time until the certificate ends, "" if it has ended or the end is not known."""

    shard: str
    secret: str
    renewed_by: str
    ends: str
    left: str
    health: str
    text: str


def certificate_line(shard: Manifest, now: float) -> CertificateLine:
    secret, renewed_by = _secret(shard)
    ends = str((shard.get("status") or {}).get("backupCertificateExpiry", ""))
    seconds = from_timestamp(ends) - now if ends else None
    health, text = _state(shard, seconds, renewed_by)
    left = format_age(to_timestamp(now), now + seconds) if seconds and seconds > 0 else ""
    return CertificateLine(shard_label(shard), secret, renewed_by, ends, left, health, text)


def _secret(shard: Manifest) -> tuple[str, str]:
    """The name of the Secret, and who renews it; "" for a Shard that another version of the operator has written."""
    try:
        view = msgspec.convert(shard, ShardView)
    except msgspec.ValidationError:
        return "", ""
    backup = view.spec.backup
    is_own = backup is msgspec.UNSET or backup.pgbackrest_tls is msgspec.UNSET
    return certificate_secret(view), OPERATOR if is_own else USER


def _state(shard: Manifest, seconds: float | None, renewed_by: str) -> tuple[str, str]:
    """A missing or ended certificate has failed; one that its owner has to renew soon waits."""
    found = condition(shard, CERTIFICATES_READY)
    if found is None:
        return "waiting", "The operator has not checked it yet."
    message = str(found.get("message", ""))
    if found.get("status") != "True":
        return "failed", message
    if seconds is not None and seconds <= 0:
        return "failed", "It has ended: backups fail until it is renewed."
    if seconds is not None and seconds < Lifetimes.renew_before and renewed_by == USER:
        return "waiting", "It ends soon: write a new one to the Secret."
    return "ready", message
