"""Cluster options, clients and error messages shared by the verbs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from functools import cache
from typing import Any, TypeVar

import click
from msgspec import structs

from steward.cli.hints import command_line, mark_local_cluster
from steward.kube.client.client import Client, client_with_transport
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource, load_settings
from steward.kube.config.proxy import choose_proxy
from steward.kube.config.settings import ConnectionSettings
from steward.kube.errors import Forbidden, KubeError, NoCluster, NoSuchKind, Unreachable
from steward.kube.transport.oneshot import OneShotTransport
from steward.kube.transport.request import ApiTransport, BeforeWrite, allow_write

_OWN_GROUPS = ("multigres.com/", "kubernetes-tenants.org/")
T = TypeVar("T")
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


def cluster_options(verb: _Decorated) -> _Decorated:
    """`--kubeconfig` and `--context`, as kubectl has them, and `--local` for the cluster of `steward up`."""
    local = click.option("--local", is_flag=True, help="The cluster that `steward up` started.")
    context = click.option(
        "--context", default="", help="Context of the kubeconfig. Default: its current one."
    )
    kubeconfig = click.option(
        "--kubeconfig",
        default="",
        help="Kubeconfig file. Default: KUBECONFIG, ~/.kube/config, then the cluster of `steward up`.",
    )
    return kubeconfig(context(local(verb)))


def with_client(source: ConfigSource, work: Callable[[Client], Awaitable[T]]) -> T:
    """Runs `work` with a client; API errors become one sentence."""

    async def connected() -> T:
        settings = load_connection_settings(source)
        client = client_with_transport(open_transport(settings), settings, SystemClock())
        try:
            return await work(client)
        finally:
            await client.close()

    return run_async(connected())


def load_connection_settings(source: ConfigSource) -> ConnectionSettings:
    """Loads the settings; without a configured cluster, those of a running `steward up`.

    A kubeconfig that exists always wins: a verb must not act on another cluster than kubectl does.
    """
    try:
        settings = load_settings(source)
    except NoCluster:
        kubeconfig = _running_local_kubeconfig()
        if kubeconfig is None:
            raise
        _announce_local_cluster()
        mark_local_cluster()
        settings = load_settings(ConfigSource(kubeconfig=kubeconfig))
        return _with_sample_namespace(settings)
    return _with_sample_namespace(settings) if _is_local(source) else settings


def is_local_cluster(source: ConfigSource) -> bool:
    """Whether verbs reach the cluster of `steward up` by this source: because it is named, or for want of another."""
    if _is_local(source):
        return True
    try:
        load_settings(source)
    except NoCluster:
        return _running_local_kubeconfig() is not None
    except KubeError:
        return False  # the verb reports it when it connects
    return False


def _running_local_kubeconfig() -> str | None:
    try:
        return _local_kubeconfig()
    except (click.ClickException, OSError):
        return None


@cache
def _announce_local_cluster() -> None:
    """Once: a verb may connect several times."""
    click.echo("There is no kubeconfig: using the cluster of `steward up`.", err=True)


def _is_local(source: ConfigSource) -> bool:
    return bool(source.kubeconfig) and source.kubeconfig == _running_local_kubeconfig()


def _with_sample_namespace(settings: ConnectionSettings) -> ConnectionSettings:
    """The default namespace is the sample's, if `steward up` made one: all that a new user has is there."""
    from steward.local.paths import default_directory
    from steward.local.sample.namespace import NAMESPACE, has_sample

    if settings.namespace != "default" or not has_sample(default_directory()):
        return settings
    return structs.replace(settings, namespace=NAMESPACE)


def open_transport(settings: ConnectionSettings, before_write: BeforeWrite = allow_write) -> ApiTransport:
    """The one-shot transport, which imports fast; behind a proxy, the transport of the operators."""
    if not choose_proxy(settings.server.rstrip("/"), settings.proxy, os.environ):
        return OneShotTransport(settings, before_write)
    from steward.kube.transport.transport import Hooks, Transport, TransportOptions

    return Transport(settings, TransportOptions(hooks=Hooks(before_write=before_write)))


def run_async(work: Coroutine[None, None, T]) -> T:
    """Runs the coroutine; API errors become one sentence with what to check."""
    try:
        return asyncio.run(work)
    except Forbidden as error:
        cure = "Ask an administrator of the cluster for that right, or use another --context."
        raise click.ClickException(f"{error}. {cure}") from error
    except Unreachable as error:
        cure = "Does the cluster run, and is this the right --context?"
        raise click.ClickException(f"{error}. {cure}") from error
    except NoSuchKind as error:
        raise click.ClickException(f"{error}{_definitions_hint(str(error))}") from error
    except KubeError as error:
        raise click.ClickException(str(error)) from error


def _definitions_hint(message: str) -> str:
    is_ours = any(group in message for group in _OWN_GROUPS)
    return (
        f". `{command_line('install', '--apply')}` installs Steward with its definitions" if is_ours else ""
    )


def group_option(name: str) -> Any:
    """The value that was given to the group of the running command: `steward hold --context prod approve crm` must not
    approve anything in another cluster."""
    running = click.get_current_context(silent=True)
    parent = None if running is None else running.parent
    return "" if parent is None else parent.params.get(name) or ""


def config_source(options: dict[str, Any]) -> ConfigSource:
    """Pops the options of `cluster_options` from the options of a verb."""
    kubeconfig, context, is_local = (
        options.pop(name) or group_option(name) for name in ("kubeconfig", "context", "local")
    )
    if is_local:
        if kubeconfig or context:
            raise click.UsageError("--local names the cluster: leave --kubeconfig and --context out")
        kubeconfig = _local_kubeconfig()
    return ConfigSource(kubeconfig=kubeconfig, context=context)


def _local_kubeconfig() -> str:
    from steward.local.endpoint import running_kubeconfig
    from steward.local.errors import LocalError
    from steward.local.paths import default_directory

    try:
        return str(running_kubeconfig(default_directory()))
    except LocalError as error:
        raise click.ClickException(str(error)) from error
