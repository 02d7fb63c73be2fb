"""Selects the object that a verb is about, and says where an object of that name is if it is not here."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from steward.cli.connection import with_client
from steward.cli.hints import command_line
from steward.cli.inspect.find import NotFoundInTrees, Trees, find_node, node_finder, parse_name
from steward.cli.inspect.object_tree import KINDS, ROOTS, TreeNode
from steward.cli.inspect.options import read_selected_trees, selected_scope
from steward.cli.inspect.render import describe_waiting
from steward.cli.inspect.single_object import read_single_object
from steward.cli.object_names import matches_kind
from steward.kube.client.client import Client
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import Key, Kind, Ref, ref_of
from steward.kube.objects.options import ListQuery

_SEARCHED = (*ROOTS, *(kind for kind in KINDS if kind.kind == "Tenant"))


def select_node(options: dict[str, Any], what: str) -> TreeNode:
    """The node of this name in the selected namespaces."""
    try:
        parse_name(what)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    trees = read_selected_trees(dict(options), node_finder(what))
    try:
        return find_node(trees, what)
    except NotFoundInTrees as error:
        if str(error):
            raise click.ClickException(str(error)) from error
    if (single := _read_single(options, what)) is not None:
        return single
    raise click.ClickException(postponed_message(what, trees) or _missing_message(options, what))


def _read_single(options: dict[str, Any], what: str) -> TreeNode | None:
    source, namespace = selected_scope(dict(options))
    kind, name = parse_name(what)
    if not kind or not namespace:
        return None
    return with_client(source, lambda client: read_single_object(client, kind, Key(namespace, name)))


def postponed_message(what: str, trees: Trees) -> str:
    """The sentence for a Tenant that the rollout of its template has not created yet; "" for another object."""
    kind, name = parse_name(what)
    for node in trees if not kind or matches_kind(kind, "Tenant") else ():
        template = node.object.ref
        if node.object.waiting_tenants and name.endswith(f"-{template.key.name}"):
            waits = describe_waiting(node.object.waiting_tenants)
            why = command_line("why", f"tenanttemplate/{template.key.name}", namespace=template.key.namespace)
            return f"there is no {what} yet: of {template} {waits}. `{why}` says what they wait for"
    return ""


def _missing_message(options: dict[str, Any], what: str) -> str:
    source, namespace = selected_scope(dict(options))
    elsewhere = with_client(source, lambda client: find_elsewhere(client, what)) if namespace else []
    return missing_message(what, namespace, elsewhere)


def missing_message(what: str, namespace: str, elsewhere: list[Ref]) -> str:
    where = f"in namespace {namespace}" if namespace else "in any namespace"
    if not elsewhere:
        return f"there is no {what} {where}; `{command_line('tree', '-A')}` shows all"
    found = elsewhere[0]
    name = f"{found.kind.kind.lower()}/{found.key.name}"
    verb = click.get_current_context(silent=True)
    words = (verb.info_name or "why") if verb is not None else "why"
    return f"there is no {what} {where}, but {found.key}: {command_line(words, name, namespace=found.key.namespace)}"


async def find_elsewhere(client: Client, what: str) -> list[Ref]:
    kind, name = parse_name(what)
    searched = [each for each in KINDS if matches_kind(kind, each.kind)] if kind else _SEARCHED
    lists = await asyncio.gather(*(_list_named(client, each, name) for each in searched))
    return [ref for listed in lists for ref in listed]


async def _list_named(client: Client, kind: Kind, name: str) -> list[Ref]:
    """Nothing where the user may not look."""
    try:
        listing = await client.list(kind, ListQuery(field_selector=f"metadata.name={name}"))
    except KubeError:
        return []
    return [ref_of({**each, "apiVersion": kind.api_version, "kind": kind.kind}) for each in listing.items]
