"""The templates of one namespace as the webhooks see them: decoded when a cluster uses them.

A namespace may have thousands of templates, and a review needs a few. Decoding or listing all of them for each review
would let the author of templates slow down every review of the namespace.
"""

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from steward.kube.cache.store import Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.objects.kinds import Key, Kind
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.resolution.resolved import Templates
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.views import TemplateView

SPECS: dict[Kind, type[Any]] = {
    CORE_TEMPLATE: CoreTemplateSpec,
    CELL_TEMPLATE: CellTemplateSpec,
    SHARD_TEMPLATE: ShardTemplateSpec,
}
TemplateContents = Mapping[Kind, Mapping[str, Any]]
MAX_LIVE_READS: Final = 100
"""Templates that one review reads from the API server: more than users apply together with a cluster."""
_OBJECT_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")


class CachedTemplates(Mapping[str, Any]):
    """Decoded contents by name. A name that was looked up keeps its answer: one review sees one state."""

    def __init__(self, kind: Kind, store: Store[TemplateView], namespace: str) -> None:
        self._kind = kind
        self._store = store
        self._namespace = namespace
        self._decoded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._decoded:
            live = self._store.get(Key(self._namespace, name))
            self._decoded[name] = None if live is None else decode_content(self._kind, live.spec)
        if self._decoded[name] is None:
            raise KeyError(name)
        return self._decoded[name]

    def __iter__(self) -> Iterator[str]:
        return (
            live.metadata.name for live in self._store.list(self._namespace) if live.metadata.name in self
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


def decode_content(kind: Kind, spec: Mapping[str, Any]) -> Any:
    """None for content that only an older schema allowed: it must not block the review of other objects."""
    try:
        return msgspec.convert(spec, SPECS[kind])
    except msgspec.ValidationError:
        return None


def templates_of(contents: TemplateContents) -> Templates:
    return Templates(contents[CORE_TEMPLATE], contents[CELL_TEMPLATE], contents[SHARD_TEMPLATE])


def with_content(contents: TemplateContents, kind: Kind, added: Mapping[str, Any]) -> TemplateContents:
    # A ChainMap only reads its later maps, although its type asks for mutable ones.
    below: Any = contents[kind]
    return {**contents, kind: ChainMap(dict(added), below)}


async def with_live_contents(
    client: Client, namespace: str, contents: TemplateContents, keys: Iterable[TemplateKey]
) -> TemplateContents:
    """The contents, with those of `keys` that the cache lacks as the API server has them."""
    kinds = {kind.kind: kind for kind in SPECS}
    missing = [key for key in sorted(keys) if key.name not in contents[kinds[key.kind]]]
    found: dict[Kind, dict[str, Any]] = {kind: {} for kind in SPECS}
    for key in missing[:MAX_LIVE_READS]:
        found[kinds[key.kind]] |= await _read(client, kinds[key.kind], Key(namespace, key.name))
    for kind, added in found.items():
        contents = with_content(contents, kind, added)
    return contents


async def _read(client: Client, kind: Kind, key: Key) -> dict[str, Any]:
    """By a list, because a list is what the operator may do with templates."""
    if not _OBJECT_NAME.fullmatch(key.name):
        return {}
    query = ListQuery(namespace=key.namespace, field_selector=f"metadata.name={key.name}")
    found = (await client.list(kind, query, TemplateView)).items
    decoded = {live.metadata.name: decode_content(kind, live.spec) for live in found}
    return {name: content for name, content in decoded.items() if content is not None}
