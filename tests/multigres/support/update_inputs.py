"""Inputs of decisions about template changes: contents, stored revisions, policies."""

import datetime
from typing import Any

import msgspec

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolved import ClusterIdentity
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.candidate import UpdateInputs
from steward.multigres.template_updates.revisions import TemplateContent, TemplateRevision, revision_name

SUNDAY = datetime.datetime(2026, 1, 4, 2, 30, tzinfo=datetime.UTC)
MONDAY = datetime.datetime(2026, 1, 5, 12, 0, tzinfo=datetime.UTC)
SHARD = TemplateKey("ShardTemplate", "std")
CELL = TemplateKey("CellTemplate", "gate")
CLUSTER = "demo"
MANUAL = {"templateChanges": "Manual"}
SUNDAYS = {"templateChanges": "Window", "window": {"cron": "0 2 * * SUN", "duration": "1h"}}


def shard_content(generation: int, cpu: str = "100m", **pool: Any) -> TemplateContent:
    spec = {"pools": {"main": {"postgres": {"requests": {"cpu": cpu}}, "storage": {"size": "1Gi"}, **pool}}}
    return TemplateContent("uid-1", generation, spec)


def cell_content(generation: int, replicas: int = 1) -> TemplateContent:
    return TemplateContent("uid-2", generation, {"multiGateway": {"replicas": replicas}})


def stored_revisions(
    *contents: TemplateContent, template: TemplateKey = SHARD
) -> tuple[TemplateRevision, ...]:
    """Revisions in the order in which they became active."""
    return tuple(
        TemplateRevision(revision_name(CLUSTER, template, content), f"r{number}", number, template, content)
        for number, content in enumerate(contents, start=1)
    )


def update_inputs(**changes: Any) -> UpdateInputs:
    spec = {
        "cells": [{"zone": "z1"}],
        "templateDefaults": {"shardTemplate": "std"},
        **changes.pop("spec", {}),
    }
    start = UpdateInputs(
        identity=ClusterIdentity("ns", CLUSTER),
        spec=msgspec.convert(spec, MultigresClusterSpec),
        live={},
        terminating=frozenset(),
        revisions=(),
        reported_generations={},
        annotations={},
        now=MONDAY,
    )
    return start._replace(**changes)


def manual(**changes: Any) -> UpdateInputs:
    return update_inputs(spec={"updatePolicy": {**MANUAL, **changes.pop("policy", {})}}, **changes)


OLD, NEW = shard_content(3), shard_content(5, "500m")
