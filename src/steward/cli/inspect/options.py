"""Where the verbs look: one namespace, or all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steward.cli.connection import cluster_options, settings_for, source_of, with_client
from steward.cli.main import one_sentence
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError

if TYPE_CHECKING:
    from steward.cli.inspect.object_tree import Branch

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to list the custom resources, and Deployments, ReplicaSets, StatefulSets, Pods and
PersistentVolumeClaims, where it looks.
"""


def looking_options(verb: _Decorated) -> _Decorated:
    namespace = click.option("-n", "--namespace", default="", help="Where to look. Default: the context's.")
    everywhere = click.option("-A", "--all-namespaces", is_flag=True, help="Look everywhere.")
    return namespace(everywhere(cluster_options(verb)))


def namespace_options(verb: _Decorated) -> _Decorated:
    """For verbs about one object."""
    namespace = click.option("-n", "--namespace", default="", help="Where it is. Default: the context's.")
    return namespace(cluster_options(verb))


def where_of(given: dict[str, Any]) -> tuple[ConfigSource, str]:
    return looks_in({**given, "all_namespaces": False})


def looks_in(given: dict[str, Any]) -> tuple[ConfigSource, str]:
    """Which cluster and which namespace; "" is all of them."""
    source = source_of(given)
    with one_sentence(KubeError):
        own = settings_for(source).namespace
    return source, "" if given["all_namespaces"] else given["namespace"] or own


def found_families(given: dict[str, Any]) -> tuple[Branch, ...]:
    # Only here: verbs about one object need none of it.
    from steward.cli.inspect.untracked_pods import dug_families

    source, namespace = looks_in(given)
    return with_client(source, lambda client: dug_families(client, namespace))
