"""`steward doctor`: examines an installation, and says the cure of whatever is wrong with it."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Iterator
from typing import Any, NamedTuple

import click
import msgspec

from steward.cli import doctor_checks
from steward.cli.connection import messenger_to, settings_for, told_plainly
from steward.cli.doctor_checks import Examined, Finding, Grade
from steward.cli.inspect.options import namespace_options, where_of
from steward.cli.output import is_for_programs, output_option, print_value
from steward.install import manifests
from steward.install.operators import MULTIGRES, SHIPPED, TENANTS, Shipped
from steward.install.rbac_rules import IN_OWN_NAMESPACE, RIGHTS, Right
from steward.install.values import NAMESPACE, VERSION, Values
from steward.kube.client.client import Access, Client, Subject, client_over
from steward.kube.clock import SystemClock
from steward.kube.config.loader import ConfigSource
from steward.kube.errors import ApiError, BadRequest, Forbidden, InternalError, Invalid, NoSuchKind, NotFound
from steward.kube.objects import kinds
from steward.kube.objects.kinds import Key, Kind, Manifest
from steward.kube.transport.request import Request

_TENANTS = "operator.kubernetes-tenants.org/v1"
_TOGETHER = 16
_COLOURS = {Grade.FINE: "green", Grade.WARNING: "yellow", Grade.UNKNOWN: "yellow", Grade.BROKEN: "red"}
_ASK = "ask somebody who has that right, or use another --context"
_EPILOG = """\b
Examples:
  steward doctor
  steward doctor --system-namespace operators -o json
  steward doctor --only multigres      where only that operator is installed
\b
Exit codes: 0 all is well, 1 something is broken.
\b
Needs, for all of its lines: to get customresourcedefinitions, roles and bindings, webhook configurations, and the
leases, deployments and serviceaccounts of the operators' namespace; to create subjectaccessreviews; to create
multigresclusters and tenanttemplates (as a dry run) in the namespace -n; to list tenantregistries. A line that it may
not look at says so.
"""


@click.command("doctor", epilog=_EPILOG)
@click.option(
    "--system-namespace", default=NAMESPACE, show_default=True, help="Where the operators are installed."
)
@click.option(
    "--only", type=click.Choice([operator.word for operator in SHIPPED]), help="One operator of the two."
)
@output_option
@namespace_options
def command(system_namespace: str, only: str | None, output: str, **given: Any) -> None:
    """Examine an installation: server, definitions, webhooks, rights, leaders, versions, sources."""
    source, namespace = where_of(given)
    operators = tuple(operator for operator in SHIPPED if only in (None, operator.word))
    scope = Scope(operators, system_namespace, namespace or "default")
    found = told_plainly(_examine(source, scope))
    if is_for_programs(output):
        print_value([_plain(each) for each in found], output)
    else:
        _show(found)
    click.get_current_context().exit(1 if any(each.grade is Grade.BROKEN for each in found) else 0)


class Scope(NamedTuple):
    """What is examined."""

    operators: tuple[Shipped, ...]
    system: str
    """Where the operators are."""
    probed: str
    """Where a dry run asks the webhooks."""


def _plain(finding: Finding) -> dict[str, str]:
    return {
        "subject": finding.subject,
        "grade": finding.grade.name.lower(),
        "told": finding.told,
        "cure": finding.cure,
    }


def _show(found: list[Finding]) -> None:
    for each in found:
        click.secho(f"{each.grade.value} {each.subject}: {each.told}", fg=_COLOURS[each.grade])
        if each.cure:
            click.echo(f"    {each.cure}")


async def _examine(source: ConfigSource, scope: Scope) -> list[Finding]:
    settings = settings_for(source)
    messenger = messenger_to(settings)
    try:
        # First and alone: a server that cannot be reached is one sentence, not one for each line.
        answer = await messenger.request(Request(method="GET", path="/version"))
        client = client_over(messenger, settings, SystemClock())
        lines = await asyncio.gather(*_lines(client, scope))
        version = doctor_checks.server_version(msgspec.json.decode(answer.body))
        sources = await _sources(client) if TENANTS in scope.operators else []
        return [version, *lines, *sources]
    finally:
        await messenger.close()


def _lines(client: Client, scope: Scope) -> Iterator[Awaitable[Finding]]:
    yield _told("definitions", _definitions(client, scope.operators))
    for operator in scope.operators:
        registered = asyncio.ensure_future(_registered(client, operator))
        yield _told(f"{operator.name} webhooks", _trust(registered, operator, scope.system))
        yield _told(f"{operator.name} webhooks answer", _answer(client, registered, operator, scope))
        yield _told(f"{operator.name} rights", _rights(client, operator, scope.system))
        yield _told(f"{operator.name} leader", _leader(client, operator, scope.system))
        yield _told(f"{operator.name} version", _version(client, operator, scope.system))


async def _sources(client: Client) -> list[Finding]:
    try:
        registries = await client.list(Kind(_TENANTS, "TenantRegistry"))
    except (NoSuchKind, NotFound):
        return []
    except Forbidden as error:
        return [doctor_checks.unknown("sources", str(error), _ASK)]
    return list(doctor_checks.sources(registries.items))


async def _told(subject: str, looking: Any) -> Finding:
    """A line that may not be looked at is a line too."""
    try:
        found: Finding = await looking
    except Forbidden as error:
        return doctor_checks.unknown(subject, str(error), _ASK)
    except ApiError as error:
        return doctor_checks.unknown(subject, str(error), "try again; the API server's log says more")
    return found


async def _definitions(client: Client, operators: tuple[Shipped, ...]) -> Finding:
    names = [custom.name for operator in operators for custom in manifests.CUSTOM_KINDS[operator]]
    found = await asyncio.gather(
        *(_get(client, kinds.CUSTOM_RESOURCE_DEFINITION, Key("", name)) for name in names)
    )
    # Not before the questions: to make them takes longer than most answers, and all the others are on their way.
    wanted = [crd for operator in operators for crd in manifests.crds(operator)]
    return doctor_checks.definitions(wanted, dict(zip(names, found, strict=True)))


async def _get(client: Client, kind: Kind, key: Key) -> Manifest | None:
    try:
        return await client.get(kind, key)
    except (NotFound, NoSuchKind):
        return None


async def _trust(registered: Awaitable[list[Manifest]], operator: Shipped, system: str) -> Finding:
    return doctor_checks.webhook_trust(Examined(operator.name, system), await registered, _now())


async def _registered(client: Client, operator: Shipped) -> list[Manifest]:
    made = manifests.WEBHOOKS[operator]({"url": ""}, "")
    refs = [kinds.ref_of(each) for each in made if each["kind"].endswith("WebhookConfiguration")]
    found = await asyncio.gather(*(_get(client, ref.kind, ref.key) for ref in refs))
    return [each for each in found if each]


async def _answer(
    client: Client, registered: Awaitable[list[Manifest]], operator: Shipped, scope: Scope
) -> Finding:
    """The API server itself is made to ask: nobody else reaches a webhook as it does."""
    subject = f"{operator.name} webhooks answer"
    if not await registered:
        return doctor_checks.nobody_is_asked(Examined(operator.name, scope.system))
    try:
        await client.create(_probe(operator, scope.probed), dry_run=True)
    except (Invalid, BadRequest):
        return doctor_checks.fine(subject, "asked, and they answer")
    except InternalError as error:
        cure = "is the operator running, and may the API server reach port 9443 of its pods?"
        return doctor_checks.broken(subject, str(error), cure)
    except NoSuchKind:
        return doctor_checks.broken(
            subject, "the kinds are missing", "steward crds | kubectl apply --server-side -f -"
        )
    return doctor_checks.fine(subject, "asked, and they answer")


def _probe(operator: Shipped, namespace: str) -> Manifest:
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


async def _rights(client: Client, operator: Shipped, system: str) -> Finding:
    """The shipped roles, bound, grant all; where they are not as shipped, each right is asked for by itself."""
    subject = f"{operator.name} rights"
    shipped = manifests.rbac(operator, Values(namespace=system))
    refs = [kinds.ref_of(each) for each in shipped]
    living = await asyncio.gather(*(_get(client, ref.kind, ref.key) for ref in refs))
    if all(doctor_checks.contains(live, each) for live, each in zip(living, shipped, strict=True)):
        return doctor_checks.fine(subject, "the shipped roles are there and bound")
    if await _get(client, kinds.SERVICE_ACCOUNT, Key(system, operator.name)) is None:
        told = f"there is no ServiceAccount {system}/{operator.name} that could have any"
        return doctor_checks.broken(
            subject, told, "steward install --apply; or --system-namespace, where it is"
        )
    asked = [
        *(each for right in RIGHTS[operator] for each in _accesses(right, "")),
        *(each for right in IN_OWN_NAMESPACE for each in _accesses(right, system)),
    ]
    user = f"system:serviceaccount:{system}:{operator.name}"
    missing = await _missing(client, _subject(user, system), asked)
    if missing:
        told = f"{user} lacks {len(missing)} of {len(asked)}: {', '.join(map(_said, missing[:3]))}"
        return doctor_checks.broken(subject, told, "steward install --apply, which brings the shipped roles")
    return doctor_checks.fine(subject, f"all {len(asked)} are granted")


def _subject(user: str, system: str) -> Subject:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{system}", "system:authenticated")
    return Subject(user=user, groups=groups)


async def _missing(client: Client, who: Subject, asked: list[Access]) -> list[Access]:
    turns = asyncio.Semaphore(_TOGETHER)

    async def may(access: Access) -> bool:
        async with turns:
            return (await client.review_access(access, who)).allowed

    allowed = await asyncio.gather(*map(may, asked))
    return [access for access, is_allowed in zip(asked, allowed, strict=True) if not is_allowed]


def _accesses(right: Right, namespace: str) -> Iterator[Access]:
    for resource in right.resources:
        name, _, subresource = resource.partition("/")
        for verb in right.verbs:
            for named in right.names or ("",):
                yield Access(
                    verb=verb,
                    resource=name,
                    subresource=subresource,
                    group=right.group,
                    namespace=namespace,
                    name=named,
                )


def _said(access: Access) -> str:
    resource = f"{access.resource}/{access.subresource}" if access.subresource else access.resource
    return f"{access.verb} {resource}" + (f".{access.group}" if access.group else "")


async def _leader(client: Client, operator: Shipped, system: str) -> Finding:
    lease = await _get(client, kinds.LEASE, Key(system, operator.name))
    return doctor_checks.leader(Examined(operator.name, system), lease, _now())


async def _version(client: Client, operator: Shipped, system: str) -> Finding:
    found = await _get(client, kinds.DEPLOYMENT, Key(system, operator.name))
    return doctor_checks.version_skew(operator.name, found, VERSION)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
