"""How verbs reach a cluster: the same options and the same sentences for all of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import click

from steward.kube.client.client import Client, client_over
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import Forbidden, KubeError, NoCluster, Unreachable
from steward.kube.transport.oneshot import BriefTransport
from steward.kube.transport.request import BeforeWrite, Messenger, permit

T = TypeVar("T")
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def cluster_options(verb: _Decorated) -> _Decorated:
    """`--kubeconfig` and `--context`, as kubectl has them, and `--local` for the cluster of `steward up`."""
    local = click.option("--local", is_flag=True, help="The cluster that `steward up` started.")
    context = click.option(
        "--context", default="", help="Context of the kubeconfig. Default: its current one."
    )
    kubeconfig = click.option(
        "--kubeconfig", default="", help="Kubeconfig file. Default: KUBECONFIG, then ~/.kube/config."
    )
    return kubeconfig(context(local(verb)))


def with_client(source: ConfigSource, work: Callable[[Client], Awaitable[T]]) -> T:
    """What `work` finds out; what the cluster refuses is told in one sentence."""

    async def connected() -> T:
        settings = settings_for(source)
        client = client_over(messenger_to(settings), settings, SystemClock())
        try:
            return await work(client)
        finally:
            await client.close()

    return told_plainly(connected())


def settings_for(source: ConfigSource) -> ConnectionSettings:
    """Whoever names no cluster while `steward up` runs one on this machine likely means that one: the cure says how."""
    try:
        return load_settings(source)
    except NoCluster as error:
        if _is_local_running():
            raise NoCluster(f"{error}, or --local for the cluster of `steward up`") from None
        raise


def _is_local_running() -> bool:
    try:
        _local_kubeconfig()
    except (click.ClickException, OSError):
        return False
    return True


def messenger_to(settings: ConnectionSettings, before_write: BeforeWrite = permit) -> Messenger:
    """For a verb: one that is there at once, or, where a proxy stands between, that of the operators."""
    if not choose_proxy(settings.server.rstrip("/"), settings.proxy, os.environ):
        return BriefTransport(settings, before_write)
    from steward.kube.transport.transport import Hooks, Transport, TransportOptions

    return Transport(settings, TransportOptions(hooks=Hooks(before_write=before_write)))


def told_plainly(work: Coroutine[None, None, T]) -> T:
    """What `work` comes to; what the cluster refuses is told in one sentence."""
    try:
        return asyncio.run(work)
    except Forbidden as error:
        cure = "Ask an administrator of the cluster for that right, or use another --context."
        raise click.ClickException(f"{error}. {cure}") from error
    except Unreachable as error:
        cure = "Does the cluster run, and is this the right --context?"
        raise click.ClickException(f"{error}. {cure}") from error
    except KubeError as error:
        raise click.ClickException(str(error)) from error


def source_of(given: dict[str, Any]) -> ConfigSource:
    """Takes the options of `cluster_options` out of what a verb was called with."""
    kubeconfig, context = given.pop("kubeconfig"), given.pop("context")
    if given.pop("local"):
        if kubeconfig or context:
            raise click.UsageError("--local names the cluster: leave --kubeconfig and --context out")
        kubeconfig = _local_kubeconfig()
    return ConfigSource(kubeconfig=kubeconfig, context=context)


def _local_kubeconfig() -> str:
    from steward.local.endpoint import kubeconfig_in
    from steward.local.errors import LocalError
    from steward.local.paths import default_directory

    try:
        return str(kubeconfig_in(default_directory()))
    except LocalError as error:
        raise click.ClickException(str(error)) from error
