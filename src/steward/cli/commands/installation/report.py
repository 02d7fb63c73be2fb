"""`steward report`: writes an archive for a bug report, without secrets."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from steward.cli.commands.installation.doctor import Scope, result_dict, run_checks
from steward.cli.connection import run_async, with_client
from steward.cli.inspect.options import scope_options, selected_scope
from steward.cli.operations.secret_scrubbing import text_scrubber
from steward.cli.operations.support_bundle import Collected, ReportScope, archive, collect
from steward.install.operators import OPERATORS
from steward.install.values import NAMESPACE
from steward.kube.config.loader import ConfigSource

_EPILOG = """\b
Examples:
  steward report -A
  steward report -n shop --file shop.tar.gz
  steward report -n shop --cluster-logs
\b
Exit codes: 0 the archive is written, also if something could not be read: README.txt in it lists that; 1 the cluster
cannot be reached, or the file cannot be written.
\b
In the archive: definitions and statuses of our kinds, workloads, pods, claims, events, the findings of `steward doctor`
and the logs of the operators. Not in it: Secrets, ConfigMaps, values of environment variables, rendered objects of
Tenants, annotations of other programs. Look through it before you pass it on.
Needs the right to list what it collects; what you may not read is left out. With the right to list Secrets, their
values are masked wherever they occur; without it, texts are masked by the shapes of passwords, keys and tokens.
"""
_README = """\
A report of `steward report` {version}, made at {time}, of {scope}.

Values are replaced by (masked): environment variables, payloads of Secrets and ConfigMaps, rendered objects of Tenants,
annotations of other programs, and in texts whatever looks like a password, key or token.

Not in this report:
{problems}
"""


@click.command("report", epilog=_EPILOG)
@click.option(
    "--file",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="File to write. Default: steward-report-TIME.tar.gz here.",
)
@click.option("--cluster-logs", is_flag=True, help="Also the logs of gateways, servers and other components.")
@click.option(
    "--system-namespace", default=NAMESPACE, show_default=True, help="Where the operators are installed."
)
@scope_options
def command(path: Path | None, cluster_logs: bool, system_namespace: str, **options: Any) -> None:
    """Write an archive with the state of clusters, registries and operators, without secrets."""
    source, namespace = selected_scope(options)
    scope = ReportScope(namespace, system_namespace, cluster_logs)
    made_at = datetime.now(UTC)
    found = with_client(source, lambda client: collect(client, scope, time.time()))
    name = f"steward-report-{made_at:%Y%m%d-%H%M%S}"
    files = {
        **found.files,
        "doctor.json": _doctor(source, scope),
        "README.txt": _readme(found, scope, made_at),
    }
    target = path or Path(f"{name}.tar.gz")
    _write_private(target, archive(files, name, made_at.timestamp()))
    click.echo(f"wrote {target}: {len(files)} files")
    if found.problems:
        click.echo(f"{len(found.problems)} things could not be read: README.txt in it lists them", err=True)


def _doctor(source: ConfigSource, scope: ReportScope) -> str:
    checks = Scope(OPERATORS, scope.system_namespace, scope.namespace or "default")
    results = run_async(run_checks(source, checks))
    return text_scrubber()(json.dumps([result_dict(each) for each in results], indent=1, ensure_ascii=False))


def _readme(found: Collected, scope: ReportScope, made_at: datetime) -> str:
    return _README.format(
        version=version("steward"),
        time=f"{made_at:%Y-%m-%dT%H:%M:%SZ}",
        scope=f"namespace {scope.namespace}" if scope.namespace else "all namespaces",
        problems="".join(f"- {each}\n" for each in found.problems) or "- nothing: all could be read\n",
    )


def _write_private(path: Path, content: bytes) -> None:
    """Only its owner can read it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
