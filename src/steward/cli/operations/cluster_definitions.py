"""Reads from a cluster what `lint` and `render` compare files with: registries, templates, schemas of custom kinds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

import yaml

from steward.cli.documents import Document
from steward.cli.inspect.fetch import read_kind
from steward.cli.lint.definitions import (
    Definitions,
    KindName,
    custom_kinds,
    openapi_schemas,
    unserved_message,
)
from steward.cli.lint.own_kinds import API_VERSIONS
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import Kind, Manifest

_PLACE: Final = "the cluster"
_REFERRED: Final = {
    "TenantTemplate": ("TenantRegistry",),
    "MultigresCluster": ("CoreTemplate", "CellTemplate", "ShardTemplate"),
}
"""The kinds that an object of a kind names."""


async def read_definitions(client: Client, documents: Sequence[Document], namespace: str) -> Definitions:
    """`namespace`: of documents that name none."""
    referred = sorted(
        (kind, document.namespace or namespace)
        for document in documents
        for kind in _REFERRED.get(document.kind, ())
    )
    lists = await asyncio.gather(*(_read_documents(client, *each) for each in dict.fromkeys(referred)))
    found = tuple(document for listed in lists for document in listed)
    return (await _read_schemas(client, custom_kinds(documents)))._replace(documents=found, has_cluster=True)


async def _read_documents(client: Client, kind: str, namespace: str) -> list[Document]:
    manifests = await read_kind(client, Kind(API_VERSIONS[kind], kind), namespace)
    return [_document(manifest) for manifest in manifests]


def _document(manifest: Manifest) -> Document:
    return Document(_PLACE, [], yaml.MappingNode("tag:yaml.org,2002:map", []), manifest)


async def _read_schemas(client: Client, names: Iterable[KindName]) -> Definitions:
    wanted = sorted(names)
    versions = sorted({version for version, _ in wanted})
    lists = await asyncio.gather(*(_read_openapi(client, version) for version in versions))
    schemas = {name: schema for version, listed in zip(versions, lists, strict=True)
               for name, schema in openapi_schemas(version, listed).items()}  # fmt: skip
    missing = [name for name in wanted if name not in schemas]
    return Definitions(schemas=schemas, unserved={name: _unserved(name, schemas) for name in missing})


def _unserved(name: KindName, served: Iterable[KindName]) -> str:
    return unserved_message(name, [kind for version, kind in served if version == name[0]])


async def _read_openapi(client: Client, version: str) -> Manifest:
    try:
        return await client.read_openapi(version)
    except NotFound:
        return {}
