"""A hook that writes the CA bundle into webhook configurations, so that the API server trusts the webhooks.

It owns that one field of each webhook, by server-side apply. It reads the configuration first, the bundle second, and
writes with the resource version that it read: a replica with an older bundle cannot overwrite a newer one. A missing
configuration is ignored, and one that has the bundle already is not written.
"""

import base64
import logging
from typing import Any

from steward.certificates.options import Hook, Trust
from steward.kube.client.client import Client
from steward.kube.errors import Conflict, NotFound
from steward.kube.objects.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Key, Kind, Manifest, Ref
from steward.kube.objects.options import ApplyOptions

ATTEMPTS = 8

log = logging.getLogger(__name__)


def webhook_configurations(mutating: str = "", validating: str = "") -> tuple[Ref, ...]:
    """The webhook configurations with these names."""
    named = ((MUTATING_WEBHOOKS, mutating), (VALIDATING_WEBHOOKS, validating))
    return tuple(Ref(kind, Key("", name)) for kind, name in named if name)


def publish_bundle(client: Client, configurations: tuple[Ref, ...], manager: str) -> Hook:
    """The hook for these configurations, with this field manager."""

    async def hook(trust: Trust) -> None:
        for ref in configurations:
            await _publish(client, ref, trust, manager)

    return hook


async def _publish(client: Client, ref: Ref, trust: Trust, manager: str) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            live = await client.get(ref.kind, ref.key)
            desired = _with_bundle(live, ref.kind, await trust.reread())
            if desired is not None:
                await client.apply(desired, ApplyOptions(manager=manager))
        except NotFound:
            log.info("%s does not exist: the CA bundle is not written", ref)
        except Conflict:
            if attempt == ATTEMPTS:
                raise
            continue
        return


def _with_bundle(live: Manifest, kind: Kind, bundle: bytes) -> Manifest | None:
    """The manifest that sets the bundle of every webhook; None if all have it."""
    encoded = base64.b64encode(bundle).decode()
    webhooks: list[dict[str, Any]] = live.get("webhooks") or []
    if all(webhook["clientConfig"].get("caBundle") == encoded for webhook in webhooks):
        return None
    metadata = live["metadata"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": metadata["name"], "resourceVersion": metadata["resourceVersion"]},
        "webhooks": [
            {"name": webhook["name"], "clientConfig": {"caBundle": encoded}} for webhook in webhooks
        ],
    }
