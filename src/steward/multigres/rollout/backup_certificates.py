"""Which certificate the servers of a shard run on, and when another one is worth replacing them for. Pure.

The backup service reads its certificate and whom to trust at its start alone. So the servers are replaced, one by one,
for a certificate that takes the place of theirs, and before that for an authority that they do not know yet: while the
last of them still shows the old certificate, the first one already shows the new, and each must trust the other.
"""

import hashlib
from typing import Any, NamedTuple

from steward.certificates.options import Lifetimes
from steward.multigres.api.shard import ShardStatus
from steward.multigres.resolution.layers import given

CALM_SECONDS = (Lifetimes.leaf - Lifetimes.renew_before) / 2
AT_ONCE = 0.0
_END = b"-----END CERTIFICATE-----"


class Present(NamedTuple):
    """Digests of the certificate in the Secret, and of each authority that it is to be trusted by."""

    leaf: str
    authorities: frozenset[str]


def present(certificate: bytes, bundle: bytes) -> Present:
    parts = (part.strip() for part in bundle.split(_END))
    return Present(_digest(certificate), frozenset(_digest(part) for part in parts if part))


def _digest(pem: bytes) -> str:
    return hashlib.sha256(pem).hexdigest()[:16]


def in_use(before: str, seen: Present, now: float, calm: float = CALM_SECONDS) -> str:
    """The certificate that the servers may go on using: `leaf.authorities.until`.

    One that was made only because a pool or a cell came or went says nothing new to those who are there, and replacing
    every server for it would be a high price. But they must not run on the old one until it expires: half the time to a
    usual renewal later the present one is due, so that a renewal never falls into the time in which changes are let be.
    """
    leaf, known, until = (*before.split("."), "", "", "")[:3]
    trusted = frozenset(known.split("+"))
    if until.isdigit() and seen.authorities <= trusted:
        # Two authorities at once are a change of authority, in which a new certificate is never a mere change of names.
        may_wait = len(seen.authorities) == 1 and now < float(until)
        if leaf == seen.leaf or may_wait:
            return before
    return f"{seen.leaf}.{'+'.join(sorted(seen.authorities))}.{now + calm:.0f}"


def noted(before: ShardStatus, digest: str) -> dict[str, Any]:
    """Which certificate is in use and how often that changed; while there is none, what was known stays."""
    known, renewals = given(before.backup_certificate, ""), given(before.backup_certificate_renewals, 0)
    if digest and known and digest != known:
        renewals += 1
    current = digest or known
    return {"backupCertificate": current, "backupCertificateRenewals": renewals} if current else {}
