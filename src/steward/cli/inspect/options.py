"""Namespace options of the verbs that read a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steward.cli.connection import cluster_options, config_source, load_connection_settings, with_client
from steward.cli.main import expected_errors
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError

if TYPE_CHECKING:
    from steward.cli.inspect.object_tree import TreeNode

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to list the custom resources, and Deployments, ReplicaSets, StatefulSets, Pods and
PersistentVolumeClaims, in the selected namespaces.
"""


def scope_options(verb: _Decorated) -> _Decorated:
    namespace = click.option(
        "-n", "--namespace", default="", help="Namespace. Default: the namespace of the context."
    )
    everywhere = click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces.")
    return namespace(everywhere(cluster_options(verb)))


def namespace_options(verb: _Decorated) -> _Decorated:
    """Options of verbs about one object."""
    namespace = click.option(
        "-n", "--namespace", default="", help="Namespace. Default: the namespace of the context."
    )
    return namespace(cluster_options(verb))


def selected_namespace(options: dict[str, Any]) -> tuple[ConfigSource, str]:
    return selected_scope({**options, "all_namespaces": False})


def selected_scope(options: dict[str, Any]) -> tuple[ConfigSource, str]:
    """The cluster and the namespace; "" means all namespaces."""
    source = config_source(options)
    with expected_errors(KubeError):
        default = load_connection_settings(source).namespace
    return source, "" if options["all_namespaces"] else options["namespace"] or default


def read_selected_trees(options: dict[str, Any]) -> tuple[TreeNode, ...]:
    # Imported here: verbs about one object do not need it.
    from steward.cli.inspect.untracked_pods import read_trees_with_pods

    source, namespace = selected_scope(options)
    return with_client(source, lambda client: read_trees_with_pods(client, namespace))
