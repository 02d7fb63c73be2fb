"""What a certificate keeper is told: names, lifetimes, and whom to tell. Plain values."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from steward.certificates.authority import KeyPair, Profile, Subject, Usage

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True)
class Lifetimes:
    """In seconds. `overlap` is how long a new authority is trusted before anything is signed by it, and how long
    the old one stays trusted after everything is: long enough for the slowest reader (the kubelet) to follow."""

    authority: float = 3650 * DAY
    leaf: float = 365 * DAY
    renew_before: float = 30 * DAY
    overlap: float = HOUR


@dataclass(frozen=True)
class Owner:
    """Whom the Secrets belong to: they go when it goes."""

    api_version: str
    kind: str
    name: str
    uid: str

    def reference(self) -> dict[str, object]:
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
        }


@dataclass(frozen=True)
class Leaf:
    """One certificate in a Secret of its own. With a `service`, it is valid for the Service's names too. With a
    `directory`, the keeper waits until the kubelet has brought the Secret there."""

    secret: str
    service: str = ""
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    usages: tuple[Usage, ...] = (Usage.SERVER,)
    directory: Path | None = None

    def profile(self, namespace: str, organization: str) -> Profile:
        host = f"{self.service}.{namespace}.svc"
        own = (host, f"{host}.cluster.local") if self.service else ()
        names = tuple(dict.fromkeys((*own, *self.dns_names)))
        subject = Subject(names[0] if names else self.secret, organization)
        return Profile(subject, names, self.ip_addresses, self.usages)


@dataclass(frozen=True)
class Announcement:
    """Something that the operator's user may want to see as an Event."""

    component: str
    reason: str
    message: str


class Trust(Protocol):
    """What a hook gets: the bundle, and a way to read it again.

    A hook that writes the bundle somewhere shared reads its target first, then `reread`s, then writes guarded by the
    target's version: so no replica can put an older bundle over a newer one.
    """

    bundle: bytes
    leaves: Mapping[str, KeyPair]

    async def reread(self) -> bytes: ...


Hook = Callable[[Trust], Awaitable[None]]


def _to_nobody(announcement: Announcement) -> None:
    pass


@dataclass(frozen=True)
class KeeperOptions:
    """`ca_secret` is never mounted anywhere: it holds the authority's key."""

    namespace: str
    ca_secret: str
    leaves: tuple[Leaf, ...]
    organization: str = "Steward"
    component: str = "cert"
    interval: float = HOUR
    owner: Owner | None = None
    hooks: tuple[Hook, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    manager: str = "steward-cert"
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    announce: Callable[[Announcement], None] = _to_nobody

    def plain(self) -> "KeeperOptions":
        """Without whom to tell: values alone, which another process can be given."""
        return replace(self, hooks=(), announce=_to_nobody)
