"""The Secrets that a certificate keeper reads and writes, safely beside other replicas that do the same.

A Secret that is not there is only ever created (a 409 means that another replica was first), one that is there is
only replaced in the version that was read. Either way the loser reads again and finds the work done.
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


class OutdatedError(CertificateError):
    """The Secret is no longer what was read: read again."""


@dataclass(frozen=True)
class KeptSecret:
    """A Secret as it was read; its content is kept out of every repr."""

    manifest: Manifest = field(repr=False)

    @property
    def data(self) -> Data:
        return {key: base64.b64decode(value) for key, value in (self.manifest.get("data") or {}).items()}

    @property
    def metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = self.manifest["metadata"]
        return metadata

    def has_annotation(self, name: str, value: str | None = None) -> bool:
        found = (self.metadata.get("annotations") or {}).get(name)
        return found is not None and value in (None, found)


class KeptSecrets:
    """Reads and writes the Secrets of one keeper."""

    def __init__(self, client: Client, options: KeeperOptions) -> None:
        self._client = client
        self._options = options
        self.versions: dict[str, str] = {}
        """In which version each was last read or written; those that are not there are left out."""

    async def read(self, name: str) -> KeptSecret | None:
        self.versions.pop(name, None)
        try:
            found = KeptSecret(await self._client.get(SECRET, Key(self._options.namespace, name)))
        except NotFound:
            return None
        self.versions[name] = found.metadata["resourceVersion"]
        return found

    async def write(self, name: str, data: Data, before: KeptSecret | None) -> None:
        """Make the Secret hold `data`, if it still is what was read; AlreadyExists or Conflict if not."""
        if before is None:
            made = await self._client.create(self._fresh(name, data), manager=self._options.manager)
            self._note(name, made)
            return
        if before.has_annotation(CERT_MANAGER):
            raise CertificateError(
                f"Secret {self._options.namespace}/{name} belongs to cert-manager: mount it, or name another one"
            )
        ref = Ref(SECRET, Key(self._options.namespace, name))
        try:
            changed = await self._client.patch(
                ref, _changes(before, data, self._options), manager=self._options.manager
            )
            self._note(name, changed)
        except NotFound:
            raise OutdatedError(f"Secret {self._options.namespace}/{name} is gone") from None
        except Invalid:
            # Immutable, by its own flag: it can only be made anew.
            await self._delete(name, before)
            raise OutdatedError(
                f"Secret {self._options.namespace}/{name} was deleted to be made anew"
            ) from None

    def _note(self, name: str, written: bytes) -> None:
        self.versions[name] = decode.one(written, Metadata).metadata.resource_version

    def is_ours(self, secret: KeptSecret) -> bool:
        """Whether owner, labels and annotation are as they should be."""
        return owned(secret.metadata, self._options) == secret.metadata

    def _fresh(self, name: str, data: Data) -> Manifest:
        metadata = owned({"name": name, "namespace": self._options.namespace}, self._options)
        secret_type = OPAQUE if name == self._options.ca_secret else TLS
        return {
            "apiVersion": SECRET.api_version,
            "kind": SECRET.kind,
            "metadata": metadata,
            "type": secret_type,
            "data": _encoded(data),
        }

    async def _delete(self, name: str, before: KeptSecret) -> None:
        version = DeleteOptions(
            uid=before.metadata["uid"], resource_version=before.metadata["resourceVersion"]
        )
        await self._client.delete(Ref(SECRET, Key(self._options.namespace, name)), version)


def owned(metadata: Mapping[str, Any], options: KeeperOptions) -> dict[str, Any]:
    """The metadata with our labels, our annotation and our owner; what others added stays."""
    annotations = {**(metadata.get("annotations") or {}), STRATEGY: SELF_SIGNED}
    wanted = {**metadata, "annotations": annotations}
    if options.labels:
        wanted["labels"] = {**(metadata.get("labels") or {}), **options.labels}
    if options.owner is not None:
        wanted["ownerReferences"] = _references(metadata.get("ownerReferences") or [], options)
    return wanted


def _references(present: list[dict[str, Any]], options: KeeperOptions) -> list[dict[str, Any]]:
    """A reference to an owner of the same name that is gone would have the Secret collected as garbage."""
    owner = options.owner
    assert owner is not None
    if any(reference["uid"] == owner.uid for reference in present):
        return present
    others = [one for one in present if (one["kind"], one["name"]) != (owner.kind, owner.name)]
    # An object has one controller at most.
    reference = owner.reference()
    if any(one.get("controller") for one in others):
        reference["controller"] = False
    return [*others, reference]


def _changes(before: KeptSecret, data: Data, options: KeeperOptions) -> JsonPatch:
    """From the version that was read and no other, a 409 if not. A patch, since that is the right that operators have:
    to replace the object whole would need one more."""
    wanted = owned(before.metadata, options)
    changed = {field: value for field, value in wanted.items() if before.metadata.get(field) != value}
    marks = [{"op": "add", "path": f"/metadata/{field}", "value": value} for field, value in changed.items()]
    content = {"op": "add", "path": "/data", "value": _encoded(data)}
    return JsonPatch.as_seen(before.metadata["resourceVersion"], [*marks, content])


def _encoded(data: Data) -> dict[str, str]:
    return {key: base64.b64encode(value).decode() for key, value in data.items()}
