"""`steward doctor`: checks an installation and prints a cure for each problem."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Iterator
from typing import Any, NamedTuple, TypeVar

import click
import msgspec

from steward.cli.connection import load_connection_settings, open_transport, run_async
from steward.cli.doctor import checks, pods, rights
from steward.cli.doctor.checks import CheckResult, Grade, OperatorLocation
from steward.cli.hints import with_cluster_options
from steward.cli.inspect.options import namespace_options, selected_namespace
from steward.cli.output import is_machine_readable, output_option, print_value, wrap_for_terminal
from steward.install import manifests
from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator, selector
from steward.install.values import NAMESPACE, VERSION
from steward.install.workloads import PARTITION_LABEL
from steward.kube.client.client import Client, client_with_transport
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import ApiError, BadRequest, Forbidden, InternalError, Invalid, NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.objects.options import ListQuery
from steward.kube.transport.request import Request

Result = TypeVar("Result")
_TENANTS = "operator.kubernetes-tenants.org/v1"
_COLOURS = {Grade.FINE: "green", Grade.WARNING: "yellow", Grade.UNKNOWN: "yellow", Grade.BROKEN: "red"}
_FORBIDDEN_CURE = "ask a user who has that right, or use another --context"
_EPILOG = """\b
Examples:
  steward doctor
  steward doctor --system-namespace operators -o json
  steward doctor --only multigres      if only that operator is installed
\b
Exit codes: 0 all checks passed, 1 something is broken.
\b
Needs, for all of its checks: to get customresourcedefinitions, roles and bindings, webhook configurations, and the
leases, deployments, pods and serviceaccounts of the operators' namespace; to create subjectaccessreviews; to create
multigresclusters and tenanttemplates (as a dry run) in the namespace -n; to list tenantregistries, tenanttemplates,
tenants, namespaces and serviceaccounts. A check without its rights says so.
"""


@click.command("doctor", epilog=_EPILOG)
@click.option(
    "--system-namespace", default=NAMESPACE, show_default=True, help="Where the operators are installed."
)
@click.option(
    "--only",
    type=click.Choice([operator.short_name for operator in OPERATORS]),
    help="Only this operator.",
)
@output_option
@namespace_options
def command(system_namespace: str, only: str | None, output: str, **options: Any) -> None:
    """Check an installation: server, definitions, webhooks, rights, leaders, versions, sources, templates."""
    source, namespace = selected_namespace(options)
    operators = tuple(operator for operator in OPERATORS if only in (None, operator.short_name))
    scope = Scope(operators, system_namespace, namespace or "default")
    results = run_async(run_checks(source, scope))
    if is_machine_readable(output):
        print_value([result_dict(result) for result in results], output)
    else:
        _print_results(results)
    click.get_current_context().exit(1 if any(result.grade is Grade.BROKEN for result in results) else 0)


class Scope(NamedTuple):
    """What to check."""

    operators: tuple[ShippedOperator, ...]
    system_namespace: str
    """Namespace of the operators."""
    probe_namespace: str
    """Namespace in which a dry run calls the webhooks."""


def result_dict(result: CheckResult) -> dict[str, str]:
    return {
        "subject": result.subject,
        "grade": result.grade.name.lower(),
        "message": result.message,
        "cure": with_cluster_options(result.cure),
    }


def _print_results(results: list[CheckResult]) -> None:
    for result in results:
        mark = click.style(result.grade.value, fg=_COLOURS[result.grade])
        first, *others = wrap_for_terminal(f"{result.grade.value} {result.subject}: {result.message}")
        click.echo(mark + first[len(result.grade.value) :])
        cures = wrap_for_terminal(f"    {with_cluster_options(result.cure)}") if result.cure else []
        for line in (*others, *cures):
            click.echo(line)


async def run_checks(source: ConfigSource, scope: Scope) -> list[CheckResult]:
    settings = load_connection_settings(source)
    transport = open_transport(settings)
    try:
        # First: an unreachable server is reported once, not by every check.
        response = await transport.request(Request(method="GET", path="/version"))
        client = client_with_transport(transport, settings, SystemClock())
        if await _is_absent(client, scope):
            names = [operator.name for operator in scope.operators]
            return [pods.not_installed(names, scope.system_namespace)]
        results = [result for result in await asyncio.gather(*_checks(client, scope)) if result is not None]
        version = checks.check_server_version(msgspec.json.decode(response.body))
        tenants = await _check_tenants(client, scope) if TENANTS in scope.operators else []
        return [version, *results, *tenants]
    finally:
        await transport.close()


async def _is_absent(client: Client, scope: Scope) -> bool:
    """Whether nothing of Steward is in the cluster. A request that is denied proves nothing."""
    names = [custom.name for operator in scope.operators for custom in manifests.CUSTOM_KINDS[operator]]
    keys = [(kinds.CUSTOM_RESOURCE_DEFINITION, Key("", name)) for name in names]
    keys += [(kinds.DEPLOYMENT, Key(scope.system_namespace, operator.name)) for operator in scope.operators]
    try:
        found = await asyncio.gather(*(_get_or_none(client, kind, key) for kind, key in keys))
    except ApiError:
        return False
    return not any(found)


def _checks(client: Client, scope: Scope) -> Iterator[Awaitable[CheckResult | None]]:
    yield _or_unknown("definitions", _check_crds(client, scope.operators))
    for operator in scope.operators:
        yield _or_unknown(f"{operator.name} pods", _check_pods(client, operator, scope.system_namespace))
        registered = asyncio.ensure_future(_webhook_configurations(client, operator))
        yield _or_unknown(
            f"{operator.name} webhooks", _check_webhook_trust(registered, operator, scope.system_namespace)
        )
        yield _or_unknown(
            f"{operator.name} webhooks answer", _check_webhooks_answer(client, registered, operator, scope)
        )
        yield _or_unknown(
            f"{operator.name} rights", rights.check_rights(client, operator, scope.system_namespace)
        )
        yield _or_unknown(f"{operator.name} leader", _check_leader(client, operator, scope.system_namespace))
        yield _or_unknown(
            f"{operator.name} version", _check_version(client, operator, scope.system_namespace)
        )


async def _check_tenants(client: Client, scope: Scope) -> list[CheckResult]:
    sources, templates, accounts = await asyncio.gather(
        _check_sources(client),
        _check_templates(client, scope.system_namespace),
        _or_unknown(rights.ACCOUNTS, rights.check_accounts(client, scope.system_namespace)),
    )
    return [*sources, *templates, accounts]


async def _check_templates(client: Client, system: str) -> list[CheckResult]:
    # Imported here: only this check needs the rules of templates.
    from steward.cli.doctor.templates import SUBJECT, check_templates

    try:
        return await check_templates(client, system)
    except (NoSuchKind, NotFound):
        return []
    except Forbidden as error:
        return [checks.unknown(SUBJECT, str(error), _FORBIDDEN_CURE)]


async def _check_sources(client: Client) -> list[CheckResult]:
    try:
        registries = await client.list(Kind(_TENANTS, "TenantRegistry"))
    except (NoSuchKind, NotFound):
        return []
    except Forbidden as error:
        return [checks.unknown("sources", str(error), _FORBIDDEN_CURE)]
    return list(checks.check_sources(registries.items))


async def _or_unknown(subject: str, check: Awaitable[Result]) -> Result | CheckResult:
    """The result of a check; unknown if the API server denies or fails the request."""
    try:
        return await check
    except Forbidden as error:
        return checks.unknown(subject, str(error), _FORBIDDEN_CURE)
    except ApiError as error:
        return checks.unknown(subject, str(error), "try again; see the log of the API server for details")


async def _check_crds(client: Client, operators: tuple[ShippedOperator, ...]) -> CheckResult:
    names = [custom.name for operator in operators for custom in manifests.CUSTOM_KINDS[operator]]
    found = await asyncio.gather(
        *(_get_or_none(client, kinds.CUSTOM_RESOURCE_DEFINITION, Key("", name)) for name in names)
    )
    # After the requests: building the definitions takes longer than most responses, and other requests run meanwhile.
    desired = [crd for operator in operators for crd in manifests.crds(operator)]
    return checks.check_crds(desired, dict(zip(names, found, strict=True)))


async def _get_or_none(client: Client, kind: Kind, key: Key) -> Manifest | None:
    try:
        return await client.get(kind, key)
    except (NotFound, NoSuchKind):
        return None


async def _check_webhook_trust(
    registered: Awaitable[list[Manifest]], operator: ShippedOperator, system: str
) -> CheckResult:
    return checks.check_webhook_trust(OperatorLocation(operator.name, system), await registered, _now())


async def _webhook_configurations(client: Client, operator: ShippedOperator) -> list[Manifest]:
    made = manifests.WEBHOOKS[operator]({"url": ""}, "")
    refs = [kinds.ref_of(each) for each in made if each["kind"].endswith("WebhookConfiguration")]
    found = await asyncio.gather(*(_get_or_none(client, ref.kind, ref.key) for ref in refs))
    return [each for each in found if each]


async def _check_webhooks_answer(
    client: Client, registered: Awaitable[list[Manifest]], operator: ShippedOperator, scope: Scope
) -> CheckResult:
    """Makes the API server call the webhook by a dry run: only its own network path counts."""
    subject = f"{operator.name} webhooks answer"
    if not await registered:
        return checks.webhooks_not_registered(OperatorLocation(operator.name, scope.system_namespace))
    try:
        await client.create(_probe_object(operator, scope.probe_namespace), dry_run=True)
    except (Invalid, BadRequest):
        return checks.fine(subject, "called successfully")
    except InternalError as error:
        cure = "is the operator running, and may the API server reach port 9443 of its pods?"
        return checks.broken(subject, str(error), cure)
    except NoSuchKind:
        return checks.broken(
            subject, "the kinds are missing", "steward crds | kubectl apply --server-side -f -"
        )
    return checks.fine(subject, "called successfully")


def _probe_object(operator: ShippedOperator, namespace: str) -> Manifest:
    metadata = {"name": "steward-doctor-probe", "namespace": namespace}
    if operator == MULTIGRES:
        spec: dict[str, Any] = {"cells": [{"zone": "probe"}]}
        return {
            "apiVersion": "multigres.com/v1alpha1",
            "kind": "MultigresCluster",
            "metadata": metadata,
            "spec": spec,
        }
    return {
        "apiVersion": _TENANTS,
        "kind": "TenantTemplate",
        "metadata": metadata,
        "spec": {"registryId": "steward-doctor-probe"},
    }


async def _check_leader(client: Client, operator: ShippedOperator, system: str) -> CheckResult:
    """Of every partition; the first without a leader is reported."""
    deployment = await _get_or_none(client, kinds.DEPLOYMENT, Key(system, operator.name))
    names = pods.lease_names(operator.name, deployment)
    leases = [await _get_or_none(client, kinds.LEASE, Key(system, name)) for name in names]
    location = OperatorLocation(operator.name, system)
    results = [checks.check_leader(location, lease, _now()) for lease in leases]
    return next((result for result in results if result.grade is not Grade.FINE), results[0])


async def _check_pods(client: Client, operator: ShippedOperator, system: str) -> CheckResult | None:
    """None without a Deployment: the operator runs outside the cluster, or `_check_version` says that it is missing."""
    deployment = await _get_or_none(client, kinds.DEPLOYMENT, Key(system, operator.name))
    if deployment is None:
        return None
    labels = ",".join(f"{name}={value}" for name, value in selector(operator).items())
    live = await client.list(kinds.POD, ListQuery(namespace=system, label_selector=labels))
    others = await _partition_deployments(client, system) if operator == TENANTS else []
    return pods.check_pods(OperatorLocation(operator.name, system), [deployment, *others], live.items)


async def _partition_deployments(client: Client, system: str) -> list[Manifest]:
    """None for a user who may get Deployments but not list them."""
    try:
        query = ListQuery(namespace=system, label_selector=PARTITION_LABEL)
        return (await client.list(kinds.DEPLOYMENT, query)).items
    except Forbidden:
        return []


async def _check_version(client: Client, operator: ShippedOperator, system: str) -> CheckResult:
    found = await _get_or_none(client, kinds.DEPLOYMENT, Key(system, operator.name))
    return checks.check_version_skew(operator.name, found, VERSION)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
