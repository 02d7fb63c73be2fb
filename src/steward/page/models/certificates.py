"""The certificates of a cluster: that of its gateways, and those of the backup service of each shard. Pure.

Their Secrets are named and never read: the operator reports in the status of the cluster and of the Shards when a
certificate ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET

from steward.certificates.options import Lifetimes
from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import condition
from steward.cli.primary_switchover import shard_label
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.timestamps import from_timestamp, to_timestamp
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.objects.shard_inputs import certificate_secret
from steward.multigres.resolution.gateway_tls import cell_gateway_tls, makes_certificate
from steward.multigres.status.conditions import CERTIFICATES_READY, GATEWAY_CERTIFICATE_READY
from steward.multigres.views import ShardView
from steward.page.models.structs import Model

OPERATOR: Final = "the operator"
USER: Final = "its owner"
GATEWAYS: Final = "gateways"
_NO_CLIENTS: Final = "It has ended: clients that check it cannot connect until it is renewed."
_NO_BACKUPS: Final = "It has ended: backups fail until it is renewed."


class CertificateLine(Model, frozen=True):
    """`used_by` is `gateways`, or a shard whose backups use it. `left` is the time until the certificate ends, "" if it
    has ended or the end is not known."""

    used_by: str
    secret: str
    renewed_by: str
    ends: str
    left: str
    health: str
    text: str


class _Certificate(NamedTuple):
    """`condition` is the one in which the operator reports about it, `ended_message` says what fails without it."""

    used_by: str
    secret: str
    renewed_by: str
    ends: str
    condition: dict[str, Any] | None
    ended_message: str


def certificate_lines(cluster: Manifest, shards: Iterable[Manifest], now: float) -> list[CertificateLine]:
    """That of the gateways first; without it if gateways offer no TLS."""
    of_gateways = _gateway_certificate(cluster)
    found = [] if of_gateways is None else [of_gateways]
    return [_line(each, now) for each in (*found, *map(_backup_certificate, shards))]


def _line(certificate: _Certificate, now: float) -> CertificateLine:
    used_by, secret, renewed_by, ends, _, _ = certificate
    seconds = from_timestamp(ends) - now if ends else None
    health, text = _state(certificate, seconds)
    left = format_age(to_timestamp(now), now + seconds) if seconds and seconds > 0 else ""
    return CertificateLine(used_by, secret, renewed_by, ends, left, health, text)


def _gateway_certificate(cluster: Manifest) -> _Certificate | None:
    """None if gateways offer no TLS, or if another version of the operator has written the cluster."""
    try:
        spec = msgspec.convert(cluster.get("spec") or {}, MultigresClusterSpec)
    except msgspec.ValidationError:
        return None
    tls = cell_gateway_tls(cluster["metadata"]["name"], spec)
    if tls is UNSET:
        return None
    ends = str((cluster.get("status") or {}).get("gatewayCertificateExpiry", ""))
    renewed_by = OPERATOR if makes_certificate(spec) else USER
    found = condition(cluster, GATEWAY_CERTIFICATE_READY)
    return _Certificate(GATEWAYS, tls.secret_name, renewed_by, ends, found, _NO_CLIENTS)


def _backup_certificate(shard: Manifest) -> _Certificate:
    ends = str((shard.get("status") or {}).get("backupCertificateExpiry", ""))
    found = condition(shard, CERTIFICATES_READY)
    return _Certificate(shard_label(shard), *_backup_secret(shard), ends, found, _NO_BACKUPS)


def _backup_secret(shard: Manifest) -> tuple[str, str]:
    """The name of the Secret, and who renews it; "" for a Shard that another version of the operator has written."""
    try:
        view = msgspec.convert(shard, ShardView)
    except msgspec.ValidationError:
        return "", ""
    backup = view.spec.backup
    is_own = backup is UNSET or backup.pgbackrest_tls is UNSET
    return certificate_secret(view), OPERATOR if is_own else USER


def _state(certificate: _Certificate, seconds: float | None) -> tuple[str, str]:
    """A missing or ended certificate has failed; one that its owner has to renew soon waits."""
    found = certificate.condition
    if found is None:
        return "waiting", "The operator has not checked it yet."
    message = str(found.get("message", ""))
    if found.get("status") != "True":
        return "failed", message
    if seconds is not None and seconds <= 0:
        return "failed", certificate.ended_message
    if seconds is not None and seconds < Lifetimes.renew_before and certificate.renewed_by == USER:
        return "waiting", "It ends soon: write a new one to the Secret."
    return "ready", message
