"""Namespace options of the verbs that read a cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import click

from steward.cli.connection import (
    cluster_options,
    config_source,
    group_option,
    load_connection_settings,
    with_client,
)
from steward.cli.main import expected_errors
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import KubeError

if TYPE_CHECKING:
    from steward.cli.inspect.object_tree import TreeNode
    from steward.cli.inspect.untracked_pods import Trees

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to list the custom resources, and Deployments, ReplicaSets, StatefulSets, Pods and
PersistentVolumeClaims, in the selected namespaces. Services, Ingresses and objects of Tenants in other namespaces are
shown to users who may list them.
"""


def scope_options(verb: _Decorated) -> _Decorated:
    everywhere = click.option("-A", "--all-namespaces", is_flag=True, help="All namespaces.")
    return _namespace_option(everywhere(cluster_options(verb)))


def namespace_options(verb: _Decorated) -> _Decorated:
    """Options of verbs about one object."""
    return _namespace_option(cluster_options(verb))


def _namespace_option(verb: _Decorated) -> _Decorated:
    return click.option(
        "-n",
        "--namespace",
        default="",
        shell_complete=_complete_namespaces,
        help="Namespace. Default: the namespace of the context.",
    )(verb)


def _complete_namespaces(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    # Imported here: only a shell that completes a line needs it.
    from steward.cli.name_completion import complete_namespaces

    return complete_namespaces(context, parameter, incomplete)


def selected_namespace(options: dict[str, Any]) -> tuple[ConfigSource, str]:
    return selected_scope({**options, "all_namespaces": False})


def selected_scope(options: dict[str, Any]) -> tuple[ConfigSource, str]:
    """The cluster and the namespace; "" means all namespaces."""
    source = config_source(options)
    with expected_errors(KubeError):
        default = load_connection_settings(source).namespace
    namespace = options["namespace"] or group_option("namespace") or default
    is_everywhere = options["all_namespaces"] or (group_option("all_namespaces") and not options["namespace"])
    return source, "" if is_everywhere else namespace


def read_selected_trees(
    options: dict[str, Any], explained: Callable[[Trees], Trees] | None = None
) -> tuple[TreeNode, ...]:
    """The trees of the selected namespaces, with the pods that are the cause of a problem in the nodes `explained`."""
    # Imported here: verbs about one object do not need it.
    from steward.cli.inspect.untracked_pods import all_trees, read_trees_with_pods

    source, namespace = selected_scope(options)
    trees = with_client(
        source, lambda client: read_trees_with_pods(client, namespace, explained or all_trees)
    )
    if not trees:
        from steward.cli.inspect.elsewhere import read_elsewhere

        sentence = with_client(source, read_elsewhere)
        # A verb about one object says by itself where an object of that name is.
        _print_once(sentence if explained is None else "")
    return trees


@cache
def _print_once(sentence: str) -> None:
    """A verb that watches reads again and again. On standard error: the output may be read by a program."""
    if sentence:
        click.echo(sentence, err=True)
