"""Two controllers: claims are provisioned and grown, released volumes are deleted with their directories."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass

from steward.kube.cache.caches import Caches
from steward.kube.client.client import Client
from steward.kube.errors import AlreadyExists, Conflict, NotFound
from steward.kube.objects.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, Key, Ref
from steward.kube.objects.options import DeleteOptions
from steward.kube.objects.patches import MergePatch
from steward.local.provisioner import decisions, directories
from steward.local.provisioner.decisions import (
    DeleteVolume,
    Grow,
    Placement,
    Provision,
    ReleaseDirectory,
    Unsupported,
)
from steward.local.provisioner.views import CLAIMS, CLASSES, VOLUMES, ClaimView, VolumeView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import view_fields
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.event_recorder import EventRecorder, ObjectEvent
from steward.runtime.plan.steps import EventType
from steward.runtime.reconcile import DONE, Result

log = logging.getLogger(__name__)

MANAGER = "steward-volumes"
_WORKERS = 4


@dataclass(frozen=True)
class ProvisionerContext:
    client: Client
    caches: Caches
    events: EventRecorder
    placement: Placement


class ClaimReconciler:
    def __init__(self, context: ProvisionerContext) -> None:
        self._context = context
        self._claims = context.caches.store(CLAIMS)
        self._volumes = context.caches.store(VOLUMES)
        self._classes = context.caches.store(CLASSES)

    async def reconcile(self, key: Key) -> Result:
        claim = self._claims.get(key)
        if claim is None:
            return DONE
        storage_class = self._classes.get(Key("", claim.spec.storage_class_name))
        volume = self._volumes.get(Key("", claim.spec.volume_name))
        match decisions.decide_claim(claim, storage_class, volume, self._context.placement):
            case Provision() as provision:
                await self._provision(claim, provision)
            case Grow() as growth:
                await self._grow(claim, growth)
            case Unsupported(message=message):
                self._context.events.emit(_event(claim, EventType.WARNING, "ProvisioningFailed", message))
        return DONE

    async def _provision(self, claim: ClaimView, provision: Provision) -> None:
        directory = provision.directory
        await asyncio.to_thread(directories.create_directory, directory)
        try:
            await self._context.client.create(provision.volume, manager=MANAGER)
        except AlreadyExists:
            return  # an earlier attempt; its name contains the uid of the claim
        message = f"created volume {decisions.volume_name(claim)} in {directory}"
        log.info("%s for claim %s", message, Key(claim.metadata.namespace, claim.metadata.name))
        self._context.events.emit(_event(claim, EventType.NORMAL, "ProvisioningSucceeded", message))

    async def _grow(self, claim: ClaimView, growth: Grow) -> None:
        """The volume first: a claim never shows more than its volume has."""
        capacity = MergePatch({"spec": {"capacity": {"storage": growth.size}}})
        await self._context.client.patch(
            Ref(PERSISTENT_VOLUME, Key("", growth.volume)), capacity, manager=MANAGER
        )
        status = MergePatch(decisions.grown_claim_status(growth.size))
        await self._context.client.patch(_claim_ref(claim), status, "status", manager=MANAGER)
        self._context.events.emit(
            _event(claim, EventType.NORMAL, "VolumeResizeSuccessful", f"the volume has {growth.size} now")
        )


class VolumeReconciler:
    def __init__(self, context: ProvisionerContext) -> None:
        self._context = context
        self._volumes = context.caches.store(VOLUMES)

    async def reconcile(self, key: Key) -> Result:
        volume = self._volumes.get(key)
        match decisions.decide_volume(volume, self._context.placement) if volume is not None else None:
            case DeleteVolume(uid=uid):
                await self._delete(key, uid)
            case ReleaseDirectory() as release if volume is not None:
                await self._release(volume, release)
        return DONE

    async def _delete(self, key: Key, uid: str) -> None:
        try:
            await self._context.client.delete(Ref(PERSISTENT_VOLUME, key), DeleteOptions(uid=uid))
        except (NotFound, Conflict):
            log.debug("volume %s is gone or is another one", key.name)

    async def _release(self, volume: VolumeView, release: ReleaseDirectory) -> None:
        if release.directory is not None:
            await asyncio.to_thread(directories.delete_directory, release.directory)
            log.info("deleted %s", release.directory)
        meta = volume.metadata
        ref = Ref(PERSISTENT_VOLUME, Key("", meta.name))
        patch = MergePatch.metadata_at_version(meta.resource_version, finalizers=[])
        try:
            await self._context.client.patch(ref, patch, manager=MANAGER)
        except NotFound:
            log.debug("volume %s is gone", meta.name)


def controllers(context: ProvisionerContext) -> list[Controller]:
    claims = context.caches.store(CLAIMS)
    return [
        Controller(
            "claims",
            ClaimReconciler(context),
            (
                For(CLAIMS, when=view_fields),
                Watches(VOLUMES, to=_claim_of),
                # A class may be created after its claims.
                Watches(CLASSES, to=lambda changed: _claims_of_class(changed.metadata.name, claims.list())),
            ),
            workers=_WORKERS,
        ),
        Controller("volumes", VolumeReconciler(context), (For(VOLUMES, when=view_fields),), workers=_WORKERS),
    ]


def _claim_of(volume: VolumeView) -> list[Key]:
    claim = volume.spec.claim_ref
    return [Key(claim.namespace, claim.name)] if claim.name else []


def _claims_of_class(name: str, claims: Iterable[ClaimView]) -> list[Key]:
    return [
        Key(claim.metadata.namespace, claim.metadata.name)
        for claim in claims
        if claim.spec.storage_class_name == name
    ]


def _claim_ref(claim: ClaimView) -> Ref:
    return Ref(PERSISTENT_VOLUME_CLAIM, Key(claim.metadata.namespace, claim.metadata.name))


def _event(claim: ClaimView, kind: EventType, reason: str, message: str) -> ObjectEvent:
    return ObjectEvent(_claim_ref(claim), claim.metadata.uid, kind, reason, message)
