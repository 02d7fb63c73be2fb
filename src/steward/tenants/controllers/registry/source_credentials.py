"""Passwords and certificates of sources: a watch on exactly the Secrets that a registry names, and on no other.

Each has a cache of its own, apart from those of the process: what Steward writes never gets in there, and a Secret
that is no longer named is no longer watched.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import Struct

from steward.kube.cache.caches import Caches
from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import SECRET, Key
from steward.kube.objects.meta import ObjectMeta
from steward.tenants.api.scalars import UNSET, Unset
from steward.tenants.api.source import SecretKeyRef, Source, Tls
from steward.tenants.errors import AccessDenied, BadSource
from steward.tenants.sources.source import Credentials

SETTLE_SECONDS = 10.0
CERTIFICATE = "tls.crt"
PRIVATE_KEY = "tls.key"


class SecretContent(Struct, frozen=True):
    metadata: ObjectMeta
    data: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"SecretContent({self.metadata.namespace}/{self.metadata.name})"


@dataclass
class _Watched:
    caches: Caches
    store: Store[SecretContent]
    users: set[Key] = field(default_factory=set)


class CredentialWatches:
    """By Secret, its watch and the registries that use it. A service of the manager, so that it ends in order."""

    name = "credentials"

    def __init__(self, client: Client, changed: Callable[[Key], None]) -> None:
        self._client = client
        self._changed = changed
        self._watched: dict[Key, _Watched] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def start(self) -> None: ...

    async def stop(self) -> None:
        for secret in list(self._watched):
            self._end(secret)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def problem(self) -> str:
        return ""

    async def use(self, registry: Key, secrets: frozenset[Key]) -> None:
        """From now on the registry uses these Secrets and no others."""
        for secret, watched in list(self._watched.items()):
            if secret not in secrets:
                watched.users.discard(registry)
            if not watched.users and secret not in secrets:
                self._end(secret)
        for secret in secrets:
            if secret not in self._watched:
                await self._begin(secret)
            self._watched[secret].users.add(registry)

    async def _begin(self, secret: Key) -> None:
        caches = Caches(self._client)
        name = f"metadata.name={secret.name}"
        rule = CacheRule(SECRET, SecretContent, {secret.namespace: ""}, field_selector=name)
        watched = self._watched[secret] = _Watched(caches, caches.store(rule))
        watched.store.subscribe(lambda _: self._tell(watched))
        await caches.start()

    def _tell(self, watched: _Watched) -> None:
        for registry in watched.users:
            self._changed(registry)

    def _end(self, secret: Key) -> None:
        task = asyncio.create_task(self._watched.pop(secret).caches.stop())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def versions_for(self, registry: Key) -> tuple[str, ...]:
        """What is known of its Secrets now; two equal answers mean that nothing has changed between them."""
        used = sorted(secret for secret, watched in self._watched.items() if registry in watched.users)
        found = (self._watched[secret].store.get(secret) for secret in used)
        return tuple("" if secret is None else secret.metadata.resource_version for secret in found)

    async def read(self, source: Source, namespace: str) -> Credentials:
        """What the Secrets of a source hold; AccessDenied if one of them lacks it."""
        block = getattr(source, source.type)
        password = getattr(block, "password_ref", UNSET)
        tls = _tls_of(block)
        return Credentials(
            password="" if password is UNSET else await self._text(password, namespace),
            authority=b"" if tls.ca_ref is UNSET else await self._value(tls.ca_ref, namespace),
            certificate=await self._certificate(tls, CERTIFICATE, namespace),
            key=await self._certificate(tls, PRIVATE_KEY, namespace),
        )

    async def _certificate(self, tls: Tls, key: str, namespace: str) -> bytes:
        if tls.client_certificate_ref is UNSET:
            return b""
        return await self._value(SecretKeyRef(name=tls.client_certificate_ref.name, key=key), namespace)

    async def _text(self, reference: SecretKeyRef, namespace: str) -> str:
        try:
            return (await self._value(reference, namespace)).decode()
        except UnicodeDecodeError:
            raise BadSource(
                f"key {reference.key} of Secret {reference.name} is no text: write it anew"
            ) from None

    async def _value(self, reference: SecretKeyRef, namespace: str) -> bytes:
        secret = await self._settled(Key(namespace, reference.name))
        if reference.key not in secret.data:
            raise AccessDenied(
                f"Secret {reference.name} has no key {reference.key}: add it, or correct the reference"
            )
        try:
            return base64.b64decode(secret.data[reference.key])
        except binascii.Error:
            raise BadSource(f"key {reference.key} of Secret {reference.name} cannot be decoded") from None

    async def _settled(self, secret: Key) -> SecretContent:
        watched = self._watched.get(secret)
        if watched is None:
            raise AccessDenied(f"Secret {secret.name} is not watched any more: the next sync reads it")
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await watched.store.wait_settled()
        except TimeoutError:
            told = watched.store.problem or "the API server does not answer"
            raise AccessDenied(f"Secret {secret.name} cannot be read: {told}") from None
        found = watched.store.get(secret)
        if found is None:
            raise AccessDenied(f"Secret {secret.name} does not exist: make it, or correct the reference")
        return found


def secrets_of(source: Source, namespace: str) -> frozenset[Key]:
    block = getattr(source, source.type)
    tls = _tls_of(block)
    references = (getattr(block, "password_ref", UNSET), tls.ca_ref, tls.client_certificate_ref)
    return frozenset(Key(namespace, found.name) for found in references if found is not UNSET)


def _tls_of(block: object) -> Tls:
    """An SQLite file has none."""
    found: Tls | Unset = getattr(block, "tls", UNSET)
    return Tls() if found is UNSET else found
