"""How verbs reach a cluster: the same options and the same sentences for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from steward.kube.client import Client, connect
from steward.kube.config import ConfigSource, load_settings
from steward.kube.errors import Forbidden, KubeError

T = TypeVar("T")
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def cluster_options(verb: _Decorated) -> _Decorated:
    """`--kubeconfig` and `--context`, as kubectl has them."""
    context = click.option(
        "--context", default="", help="Context of the kubeconfig. Default: its current one."
    )
    kubeconfig = click.option(
        "--kubeconfig", default="", help="Kubeconfig file. Default: KUBECONFIG, then ~/.kube/config."
    )
    return kubeconfig(context(verb))


def with_client(source: ConfigSource, work: Callable[[Client], Awaitable[T]]) -> T:
    """What `work` finds out; what the cluster refuses is told in one sentence."""

    async def connected() -> T:
        client = await connect(load_settings(source))
        try:
            return await work(client)
        finally:
            await client.close()

    try:
        return asyncio.run(connected())
    except Forbidden as error:
        cure = "Ask an administrator of the cluster for that right, or use another --context."
        raise click.ClickException(f"{error}. {cure}") from error
    except KubeError as error:
        raise click.ClickException(str(error)) from error


def source_of(given: dict[str, Any]) -> ConfigSource:
    """Takes the options of `cluster_options` out of what a verb was called with."""
    return ConfigSource(kubeconfig=given.pop("kubeconfig"), context=given.pop("context"))
