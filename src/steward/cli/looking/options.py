"""Where the verbs look: one namespace, or all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from steward.cli.looking.family import Branch, families
from steward.cli.looking.reading import read_objects
from steward.cli.main import one_sentence
from steward.cli.reaching import cluster_options, source_of, with_client
from steward.kube.config import load_settings
from steward.kube.errors import KubeError

_Decorated = TypeVar("_Decorated", bound=Callable[..., object])

NEEDS = """\b
Needs the right to list the custom resources, and Deployments, ReplicaSets, StatefulSets, Pods and
PersistentVolumeClaims, where it looks.
"""


def looking_options(verb: _Decorated) -> _Decorated:
    namespace = click.option("-n", "--namespace", default="", help="Where to look. Default: the context's.")
    everywhere = click.option("-A", "--all-namespaces", is_flag=True, help="Look everywhere.")
    return namespace(everywhere(cluster_options(verb)))


def found_families(given: dict[str, Any]) -> tuple[Branch, ...]:
    source = source_of(given)
    with one_sentence(KubeError):
        own = load_settings(source).namespace
    namespace = "" if given["all_namespaces"] else given["namespace"] or own
    return families(with_client(source, lambda client: read_objects(client, namespace)))
