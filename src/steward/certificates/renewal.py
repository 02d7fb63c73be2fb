"""What must be done about certificates, from the Secrets' contents and the time. Pure, but for fresh keys.

How an authority is replaced without a call failing on the way:

1. A new authority takes the old one's place in the CA Secret; the old certificate stays beside it as `previous.crt`,
   and the bundle holds both. Nothing is signed yet: everybody learns to trust the new one first.
2. After the overlap, the leaves are signed anew. Servers that still show the old leaf are trusted, too.
3. Once every leaf has been signed by the new authority for the length of the overlap, the old one is dropped.

Each step follows from what the certificates themselves say (a certificate is dated back by an hour, so the moment when
it was made is known): there is no other state, and any replica can take the next step. The old key is gone from step 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from steward.certificates.authority import KeyPair, Subject, Validity, make_authority, sign_leaf
from steward.certificates.options import HOUR, KeeperOptions, Leaf
from steward.certificates.x509 import Facts, is_signed_by, read_certificate, read_pair, split_bundle

BACKDATE = HOUR
CA_CERTIFICATE, CA_KEY, PREVIOUS = "ca.crt", "ca.key", "previous.crt"
LEAF_CERTIFICATE, LEAF_KEY = "tls.crt", "tls.key"

Data = Mapping[str, bytes]


class Reason(StrEnum):
    """Why a certificate is made; the words end a sentence."""

    MISSING = "there was none"
    CORRUPT = "it could not be read"
    EXPIRING = "it was about to expire"
    NAMES = "its names or usages changed"
    UNTRUSTED = "its authority is not ours"
    NEW_AUTHORITY = "the authority is new"


class Authority(NamedTuple):
    """The one that signs, and those before it that are still trusted."""

    pair: KeyPair
    facts: Facts
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


class Issued(NamedTuple):
    """A leaf as a Secret holds it."""

    pair: KeyPair
    facts: Facts

    @property
    def made_at(self) -> float:
        return self.facts.not_before + BACKDATE


def read_authority(data: Data | None) -> Authority | None:
    """The authority of a CA Secret; None where there is none that could sign."""
    data = data or {}
    pair = KeyPair(data.get(CA_CERTIFICATE, b""), data.get(CA_KEY, b""))
    facts = read_pair(*pair)
    if facts is None or not facts.is_authority:
        return None
    return Authority(pair, facts, split_bundle(data.get(PREVIOUS, b"")))


def read_leaf(data: Data | None) -> Issued | None:
    data = data or {}
    pair = KeyPair(data.get(LEAF_CERTIFICATE, b""), data.get(LEAF_KEY, b""))
    facts = read_pair(*pair)
    return Issued(pair, facts) if facts is not None else None


def read_pairs(contents: Mapping[str, Data]) -> dict[str, KeyPair]:
    """The pairs that Secrets hold, by the Secret's name, where they hold any."""
    issued = {name: read_leaf(data) for name, data in contents.items()}
    return {name: leaf.pair for name, leaf in issued.items() if leaf is not None}


def authority_due(data: Data | None, options: KeeperOptions, now: float) -> Reason | None:
    """Why a new authority must be made, if it must."""
    if data is None:
        return Reason.MISSING
    authority = read_authority(data)
    if authority is None:
        return Reason.CORRUPT
    return Reason.EXPIRING if _expires(authority.facts, options, now) else None


def new_authority(
    data: Data | None, leaves: Iterable[Data | None], options: KeeperOptions, now: float
) -> Authority:
    """A new authority that still trusts those who signed the leaves in use.

    They are looked for in the leaves' Secrets as well: if someone deletes the CA Secret, trust outlives it.
    """
    held = [leaf or {} for leaf in leaves]
    old = data or {}
    known = [
        old.get(CA_CERTIFICATE, b""),
        old.get(PREVIOUS, b""),
        *(leaf.get(CA_CERTIFICATE, b"") for leaf in held),
    ]
    certificates = dict.fromkeys(one for pem in known for one in split_bundle(pem))
    in_use = [leaf[LEAF_CERTIFICATE] for leaf in held if leaf.get(LEAF_CERTIFICATE)]
    previous = tuple(one for one in certificates if _still_trusted(one, in_use, now))
    validity = Validity(now - BACKDATE, now + options.lifetimes.authority)
    pair = make_authority(Subject(f"{options.ca_secret} CA", options.organization), validity)
    facts = read_pair(*pair)
    assert facts is not None, "an authority that was just made can be read"
    return Authority(pair, facts, previous)


def retired(
    authority: Authority, leaves: Iterable[Data | None], options: KeeperOptions, now: float
) -> Authority | None:
    """The authority without those before it, once every leaf has long been its own; else None."""
    issued = [read_leaf(leaf) for leaf in leaves]
    if not authority.previous or not all(issued):
        return None
    own = all(leaf and is_signed_by(leaf.pair.certificate, authority.pair.certificate) for leaf in issued)
    since = max((leaf.made_at for leaf in issued if leaf), default=authority.made_at)
    if own and now >= since + options.lifetimes.overlap:
        return authority._replace(previous=())
    return None


def leaf_due(leaf: Leaf, data: Data | None, authority: Authority, at: "Moment") -> Reason | None:
    """Why a leaf must be signed now, if it must."""
    if data is None:
        return Reason.MISSING
    issued = read_leaf(data)
    if issued is None:
        return Reason.CORRUPT
    if not any(is_signed_by(issued.pair.certificate, one) for one in split_bundle(authority.bundle)):
        return Reason.UNTRUSTED
    if _says_otherwise(issued.facts, leaf, at.options):
        return Reason.NAMES
    own = is_signed_by(issued.pair.certificate, authority.pair.certificate)
    if own:
        return Reason.EXPIRING if _expires(issued.facts, at.options, at.now) else None
    # Not before everybody trusts the new authority; but an expired leaf helps nobody.
    return (
        Reason.NEW_AUTHORITY
        if at.now >= min(ready_at(authority, at.options), issued.facts.not_after)
        else None
    )


class Moment(NamedTuple):
    options: KeeperOptions
    now: float


class AuthorityDuty(NamedTuple):
    """The authority to go on with, and whether the Secret must be written for it."""

    authority: Authority
    reason: Reason | None = None
    is_changed: bool = False

    @property
    def is_new(self) -> bool:
        return self.reason is not None


class LeafDuty(NamedTuple):
    """What the leaf's Secret shall hold, and why it was signed anew if it was."""

    data: dict[str, bytes]
    reason: Reason | None = None


def authority_duty(data: Data | None, leaves: Sequence[Data | None], at: Moment) -> AuthorityDuty:
    if reason := authority_due(data, at.options, at.now):
        return AuthorityDuty(new_authority(data, leaves, at.options, at.now), reason)
    current = read_authority(data)
    assert current is not None, "an authority that is not due can be read"
    after = retired(current, leaves, at.options, at.now)
    return AuthorityDuty(current) if after is None else AuthorityDuty(after, is_changed=True)


def leaf_duty(leaf: Leaf, data: Data | None, authority: Authority, at: Moment) -> LeafDuty:
    reason = leaf_due(leaf, data, authority, at)
    if reason is not None:
        return LeafDuty(signed(leaf, authority, at), reason)
    assert data is not None, "a leaf that is not due can be read"
    return LeafDuty(leaf_data(KeyPair(data[LEAF_CERTIFICATE], data[LEAF_KEY]), authority))


def signed(leaf: Leaf, authority: Authority, at: Moment) -> dict[str, bytes]:
    """What the leaf's Secret shall hold, with a fresh certificate."""
    profile = leaf.profile(at.options.namespace, at.options.organization)
    pair = sign_leaf(authority.pair, profile, Validity(at.now - BACKDATE, at.now + at.options.lifetimes.leaf))
    return leaf_data(pair, authority)


def leaf_data(pair: KeyPair, authority: Authority) -> dict[str, bytes]:
    """The three keys that cert-manager writes as well: `ca.crt` is for those who verify the other side."""
    return {CA_CERTIFICATE: authority.bundle, LEAF_CERTIFICATE: pair.certificate, LEAF_KEY: pair.key}


def ready_at(authority: Authority, options: KeeperOptions) -> float:
    """From when on the authority may sign in place of one before it."""
    return authority.made_at + options.lifetimes.overlap if authority.previous else authority.made_at


def seconds_to_next_check(authority: Authority, leaves: Iterable[Data], at: Moment) -> float:
    """Until the next step is due, or the usual interval if that is shorter."""
    options, lifetimes = at.options, at.options.lifetimes
    issued = [leaf for leaf in map(read_leaf, leaves) if leaf is not None]
    moments = [
        facts.not_after - lifetimes.renew_before
        for facts in (authority.facts, *(one.facts for one in issued))
    ]
    if authority.previous:
        moments.append(ready_at(authority, options))
        moments.append(max((leaf.made_at for leaf in issued), default=at.now) + lifetimes.overlap)
    ahead = [moment - at.now for moment in moments if moment > at.now]
    return min([options.interval, *ahead])


def _expires(facts: Facts, options: KeeperOptions, now: float) -> bool:
    return not facts.not_before <= now < facts.not_after - options.lifetimes.renew_before


def _still_trusted(certificate: bytes, leaves: list[bytes], now: float) -> bool:
    facts = read_certificate(certificate)
    alive = facts is not None and facts.is_authority and now < facts.not_after
    return alive and any(is_signed_by(leaf, certificate) for leaf in leaves)


def _says_otherwise(facts: Facts, leaf: Leaf, options: KeeperOptions) -> bool:
    wanted = leaf.profile(options.namespace, options.organization)
    return (
        facts.dns_names != frozenset(wanted.dns_names)
        or facts.ip_addresses != frozenset(wanted.ip_addresses)
        or facts.usages != frozenset(wanted.usages)
    )
