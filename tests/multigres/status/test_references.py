"""Conditions for missing references and skipped placements."""

import msgspec

from steward.multigres import reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.resolution.external_refs import MissingReference, missing_secrets
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, ResolvedCluster, Templates
from steward.multigres.status.references import reference_conditions

NO_TEMPLATES = Templates({}, {}, {})


def resolved(templates: Templates) -> ResolvedCluster:
    spec = msgspec.convert({"cells": [{"zone": "z1"}]}, MultigresClusterSpec)
    return resolve(ClusterIdentity("shop", "mini"), spec, templates)


def test_the_condition_names_everything_that_is_missing() -> None:
    missing = [MissingReference(reasons.STORAGE_CLASS_NOT_FOUND, "a"), *missing_secrets({"pw": "spec.x"})]
    [condition] = reference_conditions(resolved(NO_TEMPLATES), missing, 3)
    assert (condition.status, condition.reason) == ("False", reasons.STORAGE_CLASS_NOT_FOUND)
    assert condition.message == "a; spec.x: Secret pw does not exist; create it"


def test_a_skipped_placement_is_reported() -> None:
    template = msgspec.convert({"pools": {"main": {"cells": ["z1", "z9"]}}}, ShardTemplateSpec)
    cluster = resolved(Templates({}, {}, {"default": template}))
    _, skipped = reference_conditions(cluster, [], 1)
    assert (skipped.type, skipped.status) == ("PlacementsSkipped", "True")
    assert (
        "pools[main].cells: a template names cell 'z9', which this cluster does not have" in skipped.message
    )
