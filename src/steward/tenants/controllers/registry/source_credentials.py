"""Reads passwords and certificates of sources: watches exactly the Secrets that a registry references, and no others.

Each Secret has a cache of its own, apart from the informer caches of the process: the operator's own writes never get
into it, and a Secret that is no longer referenced is no longer watched.
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
from steward.tenants.sources.reader import SourceCredentials

READ_TIMEOUT_SECONDS = 10.0
CERTIFICATE = "tls.crt"
PRIVATE_KEY = "tls.key"


class SecretContent(Struct, frozen=True):
    metadata: ObjectMeta
    data: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"SecretContent({self.metadata.namespace}/{self.metadata.name})"


@dataclass
class _SecretWatch:
    caches: Caches
    store: Store[SecretContent]
    users: set[Key] = field(default_factory=set)


class CredentialWatches:
    """By Secret: its watch and the registries that use it. A service of the manager, which stops it in order."""

    name = "credentials"

    def __init__(self, client: Client, changed: Callable[[Key], None]) -> None:
        self._client = client
        self._changed = changed
        self._watches: dict[Key, _SecretWatch] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    async def start(self) -> None: ...

    async def stop(self) -> None:
        for secret in list(self._watches):
            self._stop_watch(secret)
        await asyncio.gather(*self._stopping, return_exceptions=True)

    def problem(self) -> str:
        return ""

    async def watch_secrets(self, registry: Key, secrets: frozenset[Key]) -> None:
        """Watches these Secrets for the registry, and stops the watches of others that no registry uses."""
        for secret, watch in list(self._watches.items()):
            if secret not in secrets:
                watch.users.discard(registry)
            if not watch.users and secret not in secrets:
                self._stop_watch(secret)
        for secret in secrets:
            if secret not in self._watches:
                await self._start_watch(secret)
            self._watches[secret].users.add(registry)

    async def _start_watch(self, secret: Key) -> None:
        caches = Caches(self._client)
        name = f"metadata.name={secret.name}"
        rule = CacheRule(SECRET, SecretContent, {secret.namespace: ""}, field_selector=name)
        watch = self._watches[secret] = _SecretWatch(caches, caches.store(rule))
        watch.store.subscribe(lambda _: self._notify(watch))
        await caches.start()

    def _notify(self, watch: _SecretWatch) -> None:
        for registry in watch.users:
            self._changed(registry)

    def _stop_watch(self, secret: Key) -> None:
        task = asyncio.create_task(self._watches.pop(secret).caches.stop())
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)

    def versions_for(self, registry: Key) -> tuple[str, ...]:
        """The resource versions of its Secrets: equal versions mean that none has changed."""
        used = sorted(secret for secret, watch in self._watches.items() if registry in watch.users)
        found = (self._watches[secret].store.get(secret) for secret in used)
        return tuple("" if secret is None else secret.metadata.resource_version for secret in found)

    async def read(self, source: Source, namespace: str) -> SourceCredentials:
        """The credentials of a source; raises AccessDenied if a Secret or a key is missing."""
        block = source.block
        password = getattr(block, "password_ref", UNSET)
        tls = _tls_of(block)
        return SourceCredentials(
            password="" if password is UNSET else await self._read_text(password, namespace),
            authority=b"" if tls.ca_ref is UNSET else await self._read_value(tls.ca_ref, namespace),
            certificate=await self._read_certificate(tls, CERTIFICATE, namespace),
            key=await self._read_certificate(tls, PRIVATE_KEY, namespace),
        )

    async def _read_certificate(self, tls: Tls, key: str, namespace: str) -> bytes:
        if tls.client_certificate_ref is UNSET:
            return b""
        return await self._read_value(SecretKeyRef(name=tls.client_certificate_ref.name, key=key), namespace)

    async def _read_text(self, reference: SecretKeyRef, namespace: str) -> str:
        try:
            return (await self._read_value(reference, namespace)).decode()
        except UnicodeDecodeError:
            raise BadSource(
                f"key {reference.key} of Secret {reference.name} is not UTF-8 text: write it again"
            ) from None

    async def _read_value(self, reference: SecretKeyRef, namespace: str) -> bytes:
        secret = await self._read_secret(Key(namespace, reference.name))
        if reference.key not in secret.data:
            raise AccessDenied(
                f"Secret {reference.name} has no key {reference.key}: add it, or correct the reference"
            )
        try:
            return base64.b64decode(secret.data[reference.key])
        except binascii.Error:
            raise BadSource(f"key {reference.key} of Secret {reference.name} cannot be decoded") from None

    async def _read_secret(self, secret: Key) -> SecretContent:
        watch = self._watches.get(secret)
        if watch is None:
            raise AccessDenied(f"Secret {secret.name} is no longer watched: the next sync reads it")
        try:
            async with asyncio.timeout(READ_TIMEOUT_SECONDS):
                await watch.store.wait_synced()
        except TimeoutError:
            problem = watch.store.problem or "the API server does not answer"
            raise AccessDenied(f"Secret {secret.name} cannot be read: {problem}") from None
        found = watch.store.get(secret)
        if found is None:
            raise AccessDenied(f"Secret {secret.name} does not exist: create it, or correct the reference")
        return found


def referenced_secrets(source: Source, namespace: str) -> frozenset[Key]:
    block = source.block
    tls = _tls_of(block)
    references = (getattr(block, "password_ref", UNSET), tls.ca_ref, tls.client_certificate_ref)
    return frozenset(Key(namespace, found.name) for found in references if found is not UNSET)


def _tls_of(block: object) -> Tls:
    """The default for SQLite, which has no TLS settings."""
    found: Tls | Unset = getattr(block, "tls", UNSET)
    return Tls() if found is UNSET else found
