"""Options of `lint` and `render` to compare files with a cluster. Without them nothing is read but the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from steward.cli.documents import Document
from steward.cli.inspect.options import namespace_options
from steward.cli.lint.definitions import OFFLINE, Definitions

if TYPE_CHECKING:
    from steward.kube.client.client import Client

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])
_CLUSTER_OPTIONS: Final = ("kubeconfig", "context", "local", "namespace")
NEEDS: Final = """\b
With --with-cluster, or an option that names a cluster or a namespace, what the files lack comes from there: the
registry of a TenantTemplate, the templates of a MultigresCluster, the schemas of custom kinds.
Needs then the right to list tenantregistries, coretemplates, celltemplates and shardtemplates, if the files need them.
"""


def definition_options(verb: _Decorated) -> _Decorated:
    with_cluster = click.option(
        "--with-cluster", is_flag=True, help="Take from the cluster what the files lack; write nothing."
    )
    return with_cluster(namespace_options(verb))


def read_asked_definitions(options: dict[str, Any], documents: Sequence[Document]) -> Definitions:
    """Pops the options of `definition_options`; reads a cluster if one of them is given."""
    is_asked = options.pop("with_cluster")
    if not is_asked and not any(options[name] for name in _CLUSTER_OPTIONS):
        return OFFLINE
    # Imported here: a check of files alone connects to nothing.
    from steward.cli.connection import with_client
    from steward.cli.inspect.options import selected_namespace
    from steward.cli.operations.cluster_definitions import read_definitions

    source, namespace = selected_namespace(options)

    async def read(client: Client) -> Definitions:
        return await read_definitions(client, documents, namespace)

    return with_client(source, read)
