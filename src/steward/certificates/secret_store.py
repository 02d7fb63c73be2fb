"""The Secrets of a certificate keeper, with optimistic locking between replicas.

A missing Secret is only created (a 409 means that another replica was first); an existing one is patched only in the
version that was read. In both cases the loser reads again and finds the work done.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steward.certificates.errors import CertificateError
from steward.certificates.options import KeeperOptions
from steward.certificates.renewal import Data
from steward.kube.client import decode
from steward.kube.client.client import Client
from steward.kube.errors import Invalid, NotFound
from steward.kube.objects.kinds import SECRET, Key, Manifest, Ref
from steward.kube.objects.meta import Metadata
from steward.kube.objects.options import DeleteOptions
from steward.kube.objects.patches import JsonPatch

STRATEGY = "cert-strategy"
SELF_SIGNED = "self-signed"
CERT_MANAGER = "cert-manager.io/certificate-name"
OPAQUE = "Opaque"
TLS = "kubernetes.io/tls"


class SecretChangedError(CertificateError):
    """The Secret has changed since it was read: read it again."""


@dataclass(frozen=True)
class CertificateSecret:
    """A Secret as it was read; its content does not appear in a repr."""

    manifest: Manifest = field(repr=False)

    @property
    def data(self) -> Data:
        return {key: base64.b64decode(value) for key, value in (self.manifest.get("data") or {}).items()}

    @property
    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = self.manifest["metadata"]
        return metadata

    def has_annotation(self, name: str, value: str | None = None) -> bool:
        actual = (self.metadata.get("annotations") or {}).get(name)
        return actual is not None and value in (None, actual)


class CertificateSecrets:
    """Reads and writes the Secrets of one keeper."""

    def __init__(self, client: Client, options: KeeperOptions) -> None:
        self._client = client
        self._options = options
        self.versions: dict[str, str] = {}
        """The resource version in which each existing Secret was last read or written."""

    async def read(self, name: str) -> CertificateSecret | None:
        self.versions.pop(name, None)
        try:
            secret = CertificateSecret(await self._client.get(SECRET, Key(self._options.namespace, name)))
        except NotFound:
            return None
        self.versions[name] = secret.metadata["resourceVersion"]
        return secret

    async def write(self, name: str, data: Data, previous: CertificateSecret | None) -> None:
        """Write `data` if the Secret has not changed since it was read; else AlreadyExists or Conflict."""
        if previous is None:
            made = await self._client.create(self._fresh(name, data), manager=self._options.manager)
            self._record_version(name, made)
            return
        if previous.has_annotation(CERT_MANAGER):
            raise CertificateError(
                f"Secret {self._options.namespace}/{name} belongs to cert-manager: mount it, or name another one"
            )
        ref = Ref(SECRET, Key(self._options.namespace, name))
        try:
            changed = await self._client.patch(
                ref, _changes(previous, data, self._options), manager=self._options.manager
            )
            self._record_version(name, changed)
        except NotFound:
            raise SecretChangedError(f"Secret {self._options.namespace}/{name} was deleted") from None
        except Invalid:
            # The Secret is immutable: delete it, and create it again at the next attempt.
            await self._delete(name, previous)
            raise SecretChangedError(
                f"Secret {self._options.namespace}/{name} is immutable and was deleted to be created again"
            ) from None

    def _record_version(self, name: str, written: bytes) -> None:
        self.versions[name] = decode.one(written, Metadata).metadata.resource_version

    def has_ownership(self, secret: CertificateSecret) -> bool:
        """Whether owner, labels and annotation are as desired."""
        return with_ownership(secret.metadata, self._options) == secret.metadata

    def _fresh(self, name: str, data: Data) -> Manifest:
        metadata = with_ownership({"name": name, "namespace": self._options.namespace}, self._options)
        secret_type = OPAQUE if name == self._options.ca_secret else TLS
        return {
            "apiVersion": SECRET.api_version,
            "kind": SECRET.kind,
            "metadata": metadata,
            "type": secret_type,
            "data": _encoded(data),
        }

    async def _delete(self, name: str, previous: CertificateSecret) -> None:
        version = DeleteOptions(
            uid=previous.metadata["uid"], resource_version=previous.metadata["resourceVersion"]
        )
        await self._client.delete(Ref(SECRET, Key(self._options.namespace, name)), version)


def with_ownership(metadata: Mapping[str, Any], options: KeeperOptions) -> dict[str, Any]:
    """The metadata with our labels, annotation and owner; other entries are kept."""
    annotations = {**(metadata.get("annotations") or {}), STRATEGY: SELF_SIGNED}
    desired = {**metadata, "annotations": annotations}
    if options.labels:
        desired["labels"] = {**(metadata.get("labels") or {}), **options.labels}
    if options.owner is not None:
        desired["ownerReferences"] = _references(metadata.get("ownerReferences") or [], options)
    return desired


def _references(existing: list[dict[str, Any]], options: KeeperOptions) -> list[dict[str, Any]]:
    """Replaces a reference to a deleted owner of the same name: with it, the Secret would be garbage-collected."""
    owner = options.owner
    assert owner is not None
    if any(reference["uid"] == owner.uid for reference in existing):
        return existing
    others = [one for one in existing if (one["kind"], one["name"]) != (owner.kind, owner.name)]
    # An object has one controller at most.
    reference = owner.reference()
    if any(one.get("controller") for one in others):
        reference["controller"] = False
    return [*others, reference]


def _changes(previous: CertificateSecret, data: Data, options: KeeperOptions) -> JsonPatch:
    """A patch of the version that was read; a 409 if it has changed. Not an update, for which operators have no
    permission."""
    desired = with_ownership(previous.metadata, options)
    changed = {field: value for field, value in desired.items() if previous.metadata.get(field) != value}
    marks = [{"op": "add", "path": f"/metadata/{field}", "value": value} for field, value in changed.items()]
    content = {"op": "add", "path": "/data", "value": _encoded(data)}
    return JsonPatch.at_version(previous.metadata["resourceVersion"], [*marks, content])


def _encoded(data: Data) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in data.items()}
