"""Objects that Tenants have left behind, read when a reader asks for them, with the reader's rights.

Events of their retention expire after an hour, the label of a kept object does not. Watching it would cost a watch for
each kind and identity, for a list that is rarely looked at. Secrets are never read.
"""

from __future__ import annotations

import asyncio
from typing import Final

from steward.cli.operations.object_origin import kept_by
from steward.kube.client.client import Client
from steward.kube.errors import KubeError, NoSuchKind, NotFound, Unauthorized
from steward.kube.objects.kinds import NAMESPACE, SECRET, Kind, Manifest, ref_of
from steward.kube.objects.options import ListQuery
from steward.multigres.cache_rules import CLUSTER
from steward.page.models.structs import Model, ObjectLink, object_link
from steward.tenants.api.lists import KINDS
from steward.tenants.labels import ORPHANED

KEPT_KINDS: Final = (*(kind for kind in KINDS if kind not in (SECRET, NAMESPACE)), CLUSTER)
MOST: Final = 200


class KeptObject(Model, frozen=True):
    object: ObjectLink
    text: str


class KeptObjects(Model, frozen=True):
    """`problems` says which kinds could not be listed, and why."""

    shown: list[KeptObject]
    more: int
    problems: list[str]


async def read_kept_objects(client: Client, namespace: str) -> KeptObjects:
    answers = await asyncio.gather(*(_read_kind(client, kind, namespace) for kind in KEPT_KINDS))
    found = [each for kept, _ in answers for each in kept]
    problems = [problem for _, problem in answers if problem]
    return KeptObjects(found[:MOST], max(0, len(found) - MOST), problems)


async def _read_kind(client: Client, kind: Kind, namespace: str) -> tuple[list[KeptObject], str]:
    query = ListQuery(namespace=namespace, label_selector=f"{ORPHANED}=true")
    try:
        listing = await client.list(kind, query)
    except (NoSuchKind, NotFound):
        return [], ""
    except Unauthorized:
        raise
    except KubeError as error:
        return [], f"{kind.kind}: {error}"
    return [_kept_object(kind, each) for each in listing.items], ""


def _kept_object(kind: Kind, listed: Manifest) -> KeptObject:
    manifest = {**listed, "apiVersion": kind.api_version, "kind": kind.kind}
    return KeptObject(object_link(ref_of(manifest)), kept_by(manifest))
