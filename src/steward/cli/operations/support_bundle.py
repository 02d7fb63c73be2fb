"""Collects what a bug report needs into files of an archive, without secrets.

What the user may not read is left out and listed: a report from a user with few rights is better than none. The values
of Secrets are read only to mask them in everything else.
"""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from steward.cli.inspect.fetch import read_kind
from steward.cli.inspect.object_tree import KINDS, build_trees
from steward.cli.inspect.render import MARKS, render_trees, unfolded
from steward.cli.object_events import event_dict, read_event, read_events
from steward.cli.operations.log_streams import LogOptions, read_logs
from steward.cli.operations.log_targets import LogFilter, LogTarget, log_targets
from steward.cli.operations.secret_scrubbing import ScrubText, scrub_object, secret_values, text_scrubber
from steward.install.operators import OPERATORS, selector
from steward.kube.client.client import Client
from steward.kube.errors import KubeError
from steward.kube.objects.kinds import DEPLOYMENT, POD, SECRET, Kind, Manifest
from steward.kube.objects.options import ListQuery
from steward.multigres.cache_rules import BACKUP, CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.objects.metadata import CLUSTER_LABEL

LOG_LINES = 2000
_HELM_RELEASE = "helm.sh/release.v1"
_COLLECTED = (*KINDS, CORE_TEMPLATE, CELL_TEMPLATE, SHARD_TEMPLATE, BACKUP)

Files = dict[str, str]


class ReportScope(NamedTuple):
    """The namespace to report about, "" for all, and that of the operators."""

    namespace: str
    system_namespace: str
    has_cluster_logs: bool = False


class Collected(NamedTuple):
    """Files by name, and what could not be read."""

    files: Files
    problems: list[str]


async def collect(client: Client, scope: ReportScope, now: float) -> Collected:
    """Everything of the cluster that a report has, scrubbed."""
    problems: list[str] = []
    scrub = text_scrubber(await _secret_values(client, scope, problems))
    objects = await _read_objects(client, scope, problems)
    trees = render_trees(build_trees(objects), now, unfolded)
    files = {"tree.txt": scrub("".join(f"{MARKS[line.health]} {line.text}\n" for line in trees))}
    files |= _object_files(objects, scrub)
    files["events.json"] = scrub(await _events(client, scope, problems))
    files |= await _operator_files(client, scope, scrub, problems)
    if scope.has_cluster_logs:
        pods = [each for each in objects if each["kind"] == POD.kind]
        files |= await _log_files(client, _cluster_targets(pods), scrub, problems)
    return Collected(files, problems)


async def _secret_values(client: Client, scope: ReportScope, problems: list[str]) -> list[str]:
    namespaces = {scope.namespace, scope.system_namespace} if scope.namespace else {""}
    found: list[Manifest] = []
    for namespace in sorted(namespaces):
        query = ListQuery(namespace=namespace, field_selector=f"type!={_HELM_RELEASE}")
        try:
            found += (await client.list(SECRET, query)).items
        except KubeError as error:
            problems.append(f"values of Secrets were masked by their shape only: {error}")
    return secret_values(found)


async def _read_objects(client: Client, scope: ReportScope, problems: list[str]) -> list[Manifest]:
    lists = await asyncio.gather(*(_list(client, kind, scope.namespace, problems) for kind in _COLLECTED))
    return [each for listed in lists for each in listed]


async def _list(client: Client, kind: Kind, namespace: str, problems: list[str]) -> list[Manifest]:
    try:
        return await read_kind(client, kind, namespace)
    except KubeError as error:
        problems.append(f"{kind.kind}: {error}")
        return []


def _object_files(objects: Iterable[Manifest], scrub: ScrubText) -> Files:
    """One file for each kind and namespace."""
    grouped: dict[str, list[Manifest]] = {}
    for each in objects:
        name = f"objects/{each['metadata'].get('namespace', '')}/{each['kind'].lower()}.json"
        grouped.setdefault(name, []).append(scrub_object(each, scrub))
    return {name: _json(listed) for name, listed in sorted(grouped.items())}


async def _events(client: Client, scope: ReportScope, problems: list[str]) -> str:
    try:
        found = await read_events(client, scope.namespace)
    except KubeError as error:
        problems.append(f"events: {error}")
        return _json([])
    return _json([event_dict(each) for each in sorted(map(read_event, found))])


async def _operator_files(client: Client, scope: ReportScope, scrub: ScrubText, problems: list[str]) -> Files:
    """Deployments, pods and logs of the operators."""
    files: Files = {}
    for operator in OPERATORS:
        labels = ",".join(f"{name}={value}" for name, value in selector(operator).items())
        query = ListQuery(namespace=scope.system_namespace, label_selector=labels)
        deployments, pods = [await _find(client, kind, query, problems) for kind in (DEPLOYMENT, POD)]
        made = [scrub_object(each, scrub) for each in (*deployments, *pods)]
        files[f"operators/{operator.name}.json"] = _json(made)
        files |= await _log_files(client, log_targets(pods, (), LogFilter()), scrub, problems)
    return files


async def _find(client: Client, kind: Kind, query: ListQuery, problems: list[str]) -> list[Manifest]:
    try:
        return (await client.list(kind, query)).items
    except KubeError as error:
        problems.append(f"{kind.kind} in {query.namespace}: {error}")
        return []


def _cluster_targets(pods: Iterable[Manifest]) -> list[LogTarget]:
    """Not those of Tenants: what applications write is for their owners."""
    own = [pod for pod in pods if CLUSTER_LABEL in (pod["metadata"].get("labels") or {})]
    return log_targets(own, (), LogFilter())


async def _log_files(
    client: Client, targets: Iterable[LogTarget], scrub: ScrubText, problems: list[str]
) -> Files:
    files: Files = {}
    for target in targets:
        try:
            lines, failed = await read_logs(client, [target], LogOptions(tail_lines=LOG_LINES))
        except KubeError as error:
            problems.append(f"log of {target.label}: {error}")
            continue
        problems += [f"log of {target.label}: {each.message}" for each in failed]
        if lines:
            name = f"logs/{target.pod.namespace}/{target.pod.name}-{target.container}.log"
            files[name] = scrub("".join(f"{line.time} {line.text}\n" for line in lines))
    return files


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def archive(files: Mapping[str, str], directory: str, modified: float) -> bytes:
    """The files as a gzipped tar archive that unpacks into one directory."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in sorted(files.items()):
            content = text.encode("utf-8", "replace")
            entry = tarfile.TarInfo(f"{directory}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), int(modified), 0o600
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
