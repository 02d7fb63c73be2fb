"""Switches in the spec that stop and start what the operators do: `paused` and `hibernation`. The rules are pure.

A switch that is turned off is removed from the spec, not set to false: the object is as its author wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steward.cli.hints import command_line
from steward.cli.object_names import matches_kind
from steward.cli.operations.outcome import FIELD_MANAGER, RequestError, condition, is_observed
from steward.kube.client.client import Client
from steward.kube.errors import NoSuchKind, NotFound
from steward.kube.objects.kinds import Key, Kind, Manifest, Ref
from steward.kube.objects.patches import MergePatch
from steward.multigres.cache_rules import CLUSTER
from steward.tenants.cache_rules import REGISTRY, TEMPLATE, TENANT_KIND

PAUSABLE = (CLUSTER, REGISTRY, TEMPLATE, TENANT_KIND)
PAUSED, HIBERNATION = "paused", "hibernation"


class Switch(NamedTuple):
    """One field of a spec, and the state that it is to have."""

    field: str
    is_on: bool

    def is_set(self, found: Manifest) -> bool:
        return ((found.get("spec") or {}).get(self.field) is True) == self.is_on

    def patch(self, found: Manifest) -> MergePatch:
        version = found["metadata"]["resourceVersion"]
        return MergePatch(
            {"metadata": {"resourceVersion": version}, "spec": {self.field: True if self.is_on else None}}
        )


def pausable_kinds(what: str) -> tuple[tuple[Kind, ...], str]:
    """The kinds that `[KIND/]NAME` may mean, and the name. Raises ValueError for another kind."""
    kind, slash, name = what.rpartition("/")
    found = tuple(each for each in PAUSABLE if not slash or matches_kind(kind, each.kind))
    if not (found and name):
        kinds = ", ".join(each.kind.lower() for each in PAUSABLE)
        raise ValueError(f"{what} is not NAME or KIND/NAME; kinds are: {kinds}")
    return found, name


async def read_pausable(client: Client, namespace: str, what: str) -> tuple[Ref, Manifest]:
    """The only object of this name."""
    kinds, name = pausable_kinds(what)
    refs = [Ref(kind, Key(namespace, name)) for kind in kinds]
    found = [(ref, live) for ref in refs if (live := await read_if_exists(client, ref)) is not None]
    return only_object(found, what, namespace)


def only_object(found: Sequence[tuple[Ref, Manifest]], what: str, namespace: str) -> tuple[Ref, Manifest]:
    if not found:
        raise RequestError(missing_message(what, namespace))
    if len(found) > 1:
        names = ", ".join(f"{ref.kind.kind.lower()}/{ref.key.name}" for ref, _ in found)
        raise RequestError(f"{what} is the name of several objects: pass one of {names}")
    return found[0]


async def read_if_exists(client: Client, ref: Ref) -> Manifest | None:
    try:
        return await client.get(ref.kind, ref.key)
    except (NotFound, NoSuchKind):
        return None


async def read_cluster(client: Client, key: Key) -> Manifest:
    found = await read_if_exists(client, Ref(CLUSTER, key))
    if found is None:
        raise RequestError(missing_message(f"MultigresCluster {key.name}", key.namespace))
    return found


def missing_message(what: str, namespace: str) -> str:
    return f"there is no {what} in namespace {namespace}; `{command_line('tree', '-A')}` shows all"


def check_changeable(ref: Ref, found: Manifest) -> None:
    """Raises if the operator would not act on a switch of this object."""
    if "deletionTimestamp" in found["metadata"]:
        raise RequestError(f"{ref} is being deleted")


def check_not_paused(ref: Ref, found: Manifest) -> None:
    if (found.get("spec") or {}).get(PAUSED) is True:
        name = f"{ref.kind.kind.lower()}/{ref.key.name}"
        resume = command_line("resume", name, namespace=ref.key.namespace)
        raise RequestError(f"{ref} is paused: `{resume}` lets the operator act again")


async def set_switch(client: Client, ref: Ref, found: Manifest, switch: Switch) -> None:
    """At the version that was read: an edit that another user made meanwhile is a conflict, not lost."""
    await client.patch(ref, switch.patch(found), manager=FIELD_MANAGER)


def is_paused(found: Manifest) -> bool:
    """Whether the operator reports that it changes nothing any more."""
    return condition(found, "Paused").get("status") == "True"


def is_resumed(found: Manifest) -> bool:
    return is_observed(found) and not is_paused(found)


def is_hibernated(found: Manifest) -> bool:
    return is_observed(found) and (found.get("status") or {}).get("phase") == "Hibernated"


def is_awake(found: Manifest) -> bool:
    """Whether every server of the cluster serves again."""
    states = (condition(found, each).get("status") for each in ("Available", "Ready"))
    return is_observed(found) and all(state == "True" for state in states)
