"""A hook that makes the API server trust our webhooks: it writes the bundle into webhook configurations.

It owns that one field of each webhook, by server-side apply. It reads the configuration first, the bundle second, and
writes only the version that it read: a replica with an older bundle in hand cannot put it over a newer one. A
configuration that is not there is left alone, one that holds the bundle already is not written.
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
    """The configurations of these names."""
    named = ((MUTATING_WEBHOOKS, mutating), (VALIDATING_WEBHOOKS, validating))
    return tuple(Ref(kind, Key("", name)) for kind, name in named if name)


def publish_bundle(client: Client, configurations: tuple[Ref, ...], manager: str) -> Hook:
    """The hook, for these configurations, under this field manager."""

    async def hook(trust: Trust) -> None:
        for ref in configurations:
            await _publish(client, ref, trust, manager)

    return hook


async def _publish(client: Client, ref: Ref, trust: Trust, manager: str) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            present = await client.get(ref.kind, ref.key)
            wanted = _with_bundle(present, ref.kind, await trust.reread())
            if wanted is not None:
                await client.apply(wanted, ApplyOptions(manager=manager))
        except NotFound:
            log.info("%s is not there: nobody to tell what to trust", ref)
        except Conflict:
            if attempt == ATTEMPTS:
                raise
            continue
        return


def _with_bundle(present: Manifest, kind: Kind, bundle: bytes) -> Manifest | None:
    """What to apply so that every webhook trusts the bundle; None if all do."""
    encoded = base64.b64encode(bundle).decode()
    webhooks: list[dict[str, Any]] = present.get("webhooks") or []
    if all(webhook["clientConfig"].get("caBundle") == encoded for webhook in webhooks):
        return None
    metadata = present["metadata"]
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": metadata["name"], "resourceVersion": metadata["resourceVersion"]},
        "webhooks": [
            {"name": webhook["name"], "clientConfig": {"caBundle": encoded}} for webhook in webhooks
        ],
    }
