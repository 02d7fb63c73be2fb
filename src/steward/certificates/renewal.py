"""Decides which certificates to renew, from the contents of the Secrets and the time. Pure except for new keys.

An authority is replaced without failing calls in three steps:

1. A new authority replaces the old one in the CA Secret; the old certificate is kept as `previous.crt`, and the bundle
   has both. The new authority signs nothing yet: all clients must trust it first.
2. After the overlap, it signs new leaves. Servers that still use an old leaf are trusted, too.
3. Once every leaf has been signed by the new authority for the length of the overlap, the old one is removed.

Each step follows from the certificates alone (a certificate is backdated by an hour, so the time at which it was made
is known): there is no other state, and any replica can take the next step. The old key is deleted in step 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from steward.certificates.authority import KeyPair, Subject, Validity, make_authority, sign_leaf
from steward.certificates.options import HOUR, KeeperOptions, Leaf
from steward.certificates.x509 import (
    CertificateFacts,
    is_signed_by,
    read_certificate,
    read_pair,
    split_bundle,
)

BACKDATE = HOUR
CA_CERTIFICATE, CA_KEY, PREVIOUS = "ca.crt", "ca.key", "previous.crt"
LEAF_CERTIFICATE, LEAF_KEY = "tls.crt", "tls.key"

Data = Mapping[str, bytes]


class RenewalReason(StrEnum):
    """Why a certificate is renewed; the value ends a message."""

    MISSING = "there was none"
    CORRUPT = "it could not be read"
    EXPIRING = "it was about to expire"
    NOT_YET_VALID = "it was not valid yet: the clock was set back"
    NAMES = "its names or usages changed"
    UNTRUSTED = "its authority is not ours"
    NEW_AUTHORITY = "the authority is new"


class Authority(NamedTuple):
    """The signing authority, and previous ones that are still trusted."""

    pair: KeyPair
    facts: CertificateFacts
    previous: tuple[bytes, ...] = ()

    @property
    def made_at(self) -> float:
        return self.facts.not_before + BACKDATE

    @property
    def bundle(self) -> bytes:
        return b"".join((self.pair.certificate, *self.previous))

    def data(self) -> dict[str, bytes]:
        content = {CA_CERTIFICATE: self.pair.certificate, CA_KEY: self.pair.key}
        return content | ({PREVIOUS: b"".join(self.previous)} if self.previous else {})


class IssuedLeaf(NamedTuple):
    """A leaf in a Secret."""

    pair: KeyPair
    facts: CertificateFacts

    @property
    def made_at(self) -> float:
        return self.facts.not_before + BACKDATE


def read_authority(data: Data | None) -> Authority | None:
    """The authority of a CA Secret; None without one that can sign."""
    data = data or {}
    pair = KeyPair(data.get(CA_CERTIFICATE, b""), data.get(CA_KEY, b""))
    facts = read_pair(*pair)
    if facts is None or not facts.is_authority:
        return None
    return Authority(pair, facts, split_bundle(data.get(PREVIOUS, b"")))


def read_leaf(data: Data | None) -> IssuedLeaf | None:
    data = data or {}
    pair = KeyPair(data.get(LEAF_CERTIFICATE, b""), data.get(LEAF_KEY, b""))
    facts = read_pair(*pair)
    return IssuedLeaf(pair, facts) if facts is not None else None


def read_pairs(contents: Mapping[str, Data]) -> dict[str, KeyPair]:
    """The valid pairs of these Secrets, by the Secret's name."""
    issued = {name: read_leaf(data) for name, data in contents.items()}
    return {name: leaf.pair for name, leaf in issued.items() if leaf is not None}


def authority_renewal_reason(data: Data | None, options: KeeperOptions, now: float) -> RenewalReason | None:
    """Why a new authority must be made; None if not."""
    if data is None:
        return RenewalReason.MISSING
    authority = read_authority(data)
    if authority is None:
        return RenewalReason.CORRUPT
    if authority.facts.not_before > now:
        return RenewalReason.NOT_YET_VALID
    return RenewalReason.EXPIRING if _is_expiring(authority.facts, options, now) else None


def new_authority(
    data: Data | None, leaves: Iterable[Data | None], options: KeeperOptions, now: float
) -> Authority:
    """A new authority, whose bundle still has the authorities that signed the leaves in use.

    They are read from the leaves' Secrets as well: if the CA Secret is deleted, existing leaves stay trusted.
    """
    secrets = [leaf or {} for leaf in leaves]
    old = data or {}
    pems = [
        old.get(CA_CERTIFICATE, b""),
        old.get(PREVIOUS, b""),
        *(secret.get(CA_CERTIFICATE, b"") for secret in secrets),
    ]
    certificates = dict.fromkeys(one for pem in pems for one in split_bundle(pem))
    in_use = [secret[LEAF_CERTIFICATE] for secret in secrets if secret.get(LEAF_CERTIFICATE)]
    previous = tuple(one for one in certificates if _is_needed_for_trust(one, in_use, now))
    validity = Validity(now - BACKDATE, now + options.lifetimes.authority)
    pair = make_authority(Subject(f"{options.ca_secret} CA", (options.organization,)), validity)
    facts = read_pair(*pair)
    assert facts is not None, "an authority that was just made can be read"
    return Authority(pair, facts, previous)


def without_previous(
    authority: Authority, leaves: Iterable[Data | None], options: KeeperOptions, now: float
) -> Authority | None:
    """The authority without previous ones, once it has signed every leaf for the length of the overlap; else None."""
    issued = [read_leaf(leaf) for leaf in leaves]
    if not authority.previous or not all(issued):
        return None
    is_current = all(
        leaf and is_signed_by(leaf.pair.certificate, authority.pair.certificate) for leaf in issued
    )
    since = max((leaf.made_at for leaf in issued if leaf), default=authority.made_at)
    if is_current and now >= since + options.lifetimes.overlap:
        return authority._replace(previous=())
    return None


def leaf_renewal_reason(
    leaf: Leaf, data: Data | None, authority: Authority, context: "RenewalContext"
) -> RenewalReason | None:
    """Why a leaf must be signed now; None if not."""
    if data is None:
        return RenewalReason.MISSING
    issued = read_leaf(data)
    if issued is None:
        return RenewalReason.CORRUPT
    if not any(is_signed_by(issued.pair.certificate, one) for one in split_bundle(authority.bundle)):
        return RenewalReason.UNTRUSTED
    if _differs_from_profile(issued.facts, leaf, context.options):
        return RenewalReason.NAMES
    if issued.facts.not_before > context.now:
        return RenewalReason.NOT_YET_VALID
    is_current = is_signed_by(issued.pair.certificate, authority.pair.certificate)
    if is_current:
        return RenewalReason.EXPIRING if _is_expiring(issued.facts, context.options, context.now) else None
    # Not before all clients trust the new authority, but not later than the old leaf expires.
    return (
        RenewalReason.NEW_AUTHORITY
        if context.now >= min(may_sign_at(authority, context.options), issued.facts.not_after)
        else None
    )


class RenewalContext(NamedTuple):
    options: KeeperOptions
    now: float


class AuthorityDecision(NamedTuple):
    """The authority to use, and whether its Secret must be written."""

    authority: Authority
    reason: RenewalReason | None = None
    is_changed: bool = False

    @property
    def is_new(self) -> bool:
        return self.reason is not None


class LeafDecision(NamedTuple):
    """The desired content of the leaf's Secret, and why the leaf was renewed, if it was."""

    data: dict[str, bytes]
    reason: RenewalReason | None = None


def decide_authority(
    data: Data | None, leaves: Sequence[Data | None], context: RenewalContext
) -> AuthorityDecision:
    if reason := authority_renewal_reason(data, context.options, context.now):
        return AuthorityDecision(new_authority(data, leaves, context.options, context.now), reason)
    current = read_authority(data)
    assert current is not None, "an authority that is not due can be read"
    after = without_previous(current, leaves, context.options, context.now)
    return AuthorityDecision(current) if after is None else AuthorityDecision(after, is_changed=True)


def decide_leaf(leaf: Leaf, data: Data | None, authority: Authority, context: RenewalContext) -> LeafDecision:
    reason = leaf_renewal_reason(leaf, data, authority, context)
    if reason is not None:
        return LeafDecision(signed_leaf_data(leaf, authority, context), reason)
    assert data is not None, "a leaf that is not due can be read"
    return LeafDecision(leaf_data(KeyPair(data[LEAF_CERTIFICATE], data[LEAF_KEY]), authority))


def signed_leaf_data(leaf: Leaf, authority: Authority, context: RenewalContext) -> dict[str, bytes]:
    """The content of the leaf's Secret with a new certificate."""
    profile = leaf.profile(context.options.namespace, context.options.organization)
    pair = sign_leaf(
        authority.pair,
        profile,
        Validity(context.now - BACKDATE, context.now + context.options.lifetimes.leaf),
    )
    return leaf_data(pair, authority)


def leaf_data(pair: KeyPair, authority: Authority) -> dict[str, bytes]:
    """The three keys that cert-manager writes as well; `ca.crt` is for clients that verify the peer."""
    return {CA_CERTIFICATE: authority.bundle, LEAF_CERTIFICATE: pair.certificate, LEAF_KEY: pair.key}


def may_sign_at(authority: Authority, options: KeeperOptions) -> float:
    """From when on the authority may sign in place of a previous one."""
    return authority.made_at + options.lifetimes.overlap if authority.previous else authority.made_at


def seconds_to_next_check(authority: Authority, leaves: Iterable[Data], context: RenewalContext) -> float:
    """Seconds until the next step is due, at most the interval of the options."""
    options, lifetimes = context.options, context.options.lifetimes
    issued = [leaf for leaf in map(read_leaf, leaves) if leaf is not None]
    moments = [
        facts.not_after - lifetimes.renew_before
        for facts in (authority.facts, *(one.facts for one in issued))
    ]
    if authority.previous:
        moments.append(may_sign_at(authority, options))
        moments.append(max((leaf.made_at for leaf in issued), default=context.now) + lifetimes.overlap)
    ahead = [moment - context.now for moment in moments if moment > context.now]
    return min([options.interval, *ahead])


def _is_expiring(facts: CertificateFacts, options: KeeperOptions, now: float) -> bool:
    return now >= facts.not_after - options.lifetimes.renew_before


def _is_needed_for_trust(certificate: bytes, leaves: list[bytes], now: float) -> bool:
    facts = read_certificate(certificate)
    alive = facts is not None and facts.is_authority and now < facts.not_after
    return alive and any(is_signed_by(leaf, certificate) for leaf in leaves)


def _differs_from_profile(facts: CertificateFacts, leaf: Leaf, options: KeeperOptions) -> bool:
    profile = leaf.profile(options.namespace, options.organization)
    return (
        facts.dns_names != frozenset(profile.dns_names)
        or facts.ip_addresses != frozenset(profile.ip_addresses)
        or facts.usages != frozenset(profile.usages)
    )
