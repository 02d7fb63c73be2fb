"""Decides which backup certificate the servers of a shard run on, and when a new one requires replacing them. Pure.

The backup service reads its certificate and its trusted authorities only when it starts. The servers are therefore
replaced one by one for a new certificate, and before that for a new authority: while the last server still presents the
old certificate and the first already presents the new one, each must trust the other.
"""

import hashlib
from typing import Any, NamedTuple

from steward.certificates.options import Lifetimes
from steward.multigres.api.shard import ShardStatus
from steward.multigres.api.unset import or_default

SETTLE_SECONDS = (Lifetimes.leaf - Lifetimes.renew_before) / 2
IMMEDIATELY = 0.0
_END = b"-----END CERTIFICATE-----"


class CertificateDigests(NamedTuple):
    """Digests of the certificate in the Secret and of each authority in its bundle."""

    leaf: str
    authorities: frozenset[str]


def certificate_digests(certificate: bytes, bundle: bytes) -> CertificateDigests:
    parts = (part.strip() for part in bundle.split(_END))
    return CertificateDigests(_digest(certificate), frozenset(_digest(part) for part in parts if part))


def _digest(pem: bytes) -> str:
    return hashlib.sha256(pem).hexdigest()[:16]


def certificate_in_use(
    previous: str, live: CertificateDigests, now: float, settle_seconds: float = SETTLE_SECONDS
) -> str:
    """The certificate that the servers may go on using: `leaf.authorities.until`.

    A certificate that was issued only because a pool or a cell was added or removed changes nothing for existing
    servers, and replacing every server for it would be expensive. But they must not run on the old one until it
    expires: after half the time to a regular renewal the new one is adopted, so that a renewal never falls into the
    period in which changes are ignored.
    """
    leaf, known, until = (*previous.split("."), "", "", "")[:3]
    trusted = frozenset(known.split("+"))
    if until.isdigit() and live.authorities <= trusted:
        # Two authorities mean a rotation of the authority, in which a new certificate is more than a change of names.
        may_wait = len(live.authorities) == 1 and now < float(until)
        if leaf == live.leaf or may_wait:
            return previous
    return f"{live.leaf}.{'+'.join(sorted(live.authorities))}.{now + settle_seconds:.0f}"


def certificate_status(previous: ShardStatus, digest: str) -> dict[str, Any]:
    """The certificate in use and the number of its changes; without a digest the previous values stay."""
    known = or_default(previous.backup_certificate, "")
    renewals = or_default(previous.backup_certificate_renewals, 0)
    if digest and known and digest != known:
        renewals += 1
    current = digest or known
    return {"backupCertificate": current, "backupCertificateRenewals": renewals} if current else {}
