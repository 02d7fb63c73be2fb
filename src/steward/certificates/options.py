"""Options of a certificate keeper: names, lifetimes, hooks."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from steward.certificates.authority import KeyPair, Profile, Subject, Usage

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True)
class Lifetimes:
    """In seconds. `overlap` is how long a new authority is trusted before it signs anything, and how long the old one
    stays trusted after every leaf is renewed: long enough for the slowest reader (the kubelet)."""

    authority: float = 3650 * DAY
    leaf: float = 365 * DAY
    renew_before: float = 30 * DAY
    overlap: float = HOUR


@dataclass(frozen=True)
class CertificateOwner:
    """The owner of the Secrets: they are deleted with it."""

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
    """A certificate in its own Secret. With a `service`, it is valid for the Service's names, too. With a `directory`,
    the keeper waits until the kubelet has mounted the Secret there."""

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
        subject = Subject(names[0] if names else self.secret, (organization,))
        return Profile(subject, names, self.ip_addresses, self.usages)


@dataclass(frozen=True)
class Announcement:
    """A change of a certificate, to be reported as a Kubernetes Event."""

    component: str
    reason: str
    message: str


class Trust(Protocol):
    """The argument of a hook: the bundle, the leaves, and a way to read the bundle again.

    A hook that writes the bundle to a shared object reads that object first, then calls `reread`, then writes with the
    object's resource version: so no replica overwrites a newer bundle with an older one.
    """

    bundle: bytes
    leaves: Mapping[str, KeyPair]

    async def reread(self) -> bytes: ...


Hook = Callable[[Trust], Awaitable[None]]


def _ignore(announcement: Announcement) -> None:
    pass


@dataclass(frozen=True)
class KeeperOptions:
    """`ca_secret` holds the authority's key and is never mounted."""

    namespace: str
    ca_secret: str
    leaves: tuple[Leaf, ...]
    organization: str = "Steward"
    component: str = "cert"
    interval: float = HOUR
    owner: CertificateOwner | None = None
    hooks: tuple[Hook, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    manager: str = "steward-cert"
    lifetimes: Lifetimes = field(default_factory=Lifetimes)
    announce: Callable[[Announcement], None] = _ignore

    def without_callbacks(self) -> "KeeperOptions":
        """The options without callbacks, which can be pickled for a subprocess."""
        return replace(self, hooks=(), announce=_ignore)
