"""A candidate that takes unchanged shards from an earlier one is equal to one that is resolved from the beginning."""

import datetime
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.resolution.resolved import ClusterIdentity
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.template_updates.candidate import Candidate, UpdateInputs, resolve_candidate
from steward.multigres.template_updates.revisions import TemplateContent

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

CPU = st.sampled_from(["100m", "150m", "-1"])
POLICIES = st.sampled_from([{}, {"pvcDeletionPolicy": {"whenDeleted": "Delete"}}])
BACKUPS = st.sampled_from(
    [
        {},
        {"backup": {"type": "s3", "s3": {"bucket": "b", "region": "r"}}},
        {"backup": {"type": "filesystem", "filesystem": {"storage": {"size": "0"}}}},
    ]
)
NAMES = st.sampled_from(["a", "b", "c"])
POOLS = st.builds(
    lambda cpu, cells: {
        "main": {"postgres": {"requests": {"cpu": cpu}}, **({"cells": cells} if cells else {})}
    },
    CPU,
    st.lists(st.sampled_from(["z1", "z2"]), max_size=2, unique=True),
)
DEFINITIONS = st.one_of(
    st.just({}),
    st.builds(lambda pools: {"spec": {"pools": pools}}, POOLS),
    st.builds(lambda name: {"shardTemplate": name}, NAMES),
    st.builds(lambda pools: {"shardTemplate": "a", "overrides": {"pools": pools}}, POOLS),
)
SHARDS = st.builds(lambda name, *parts: {"name": name, **_merged(parts)}, NAMES, DEFINITIONS, BACKUPS)
# Also with names that occur twice, which no API server accepts and a manifest for `steward lint` may have.
GROUPS = st.builds(
    lambda name, shards, *parts: {"name": name, "shards": shards, **_merged(parts)},
    NAMES,
    st.lists(SHARDS, max_size=3),
    POLICIES,
    BACKUPS,
)
DATABASES = st.builds(
    lambda name, groups, *parts: {"name": name, "tablegroups": groups, **_merged(parts)},
    NAMES,
    st.lists(GROUPS, max_size=2),
    BACKUPS,
)
SPECS = st.builds(
    lambda cells, databases, *parts: {
        "cells": [{"name": cell, "zone": cell} for cell in cells],
        "databases": databases,
        **_merged(parts),
    },
    st.sampled_from([["z1"], ["z1", "z2"], ["z2"]]),
    st.lists(DATABASES, max_size=2),
    POLICIES,
    BACKUPS,
    st.sampled_from([{}, {"templateDefaults": {"shardTemplate": "a"}}]),
)
CONTENTS = st.dictionaries(
    st.sampled_from(["a", "default"]), st.builds(lambda pools: {"pools": pools}, POOLS), max_size=2
)
VERSIONS = st.lists(st.tuples(SPECS, CONTENTS), min_size=2, max_size=4)


def _merged(parts: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


def candidate(spec: dict[str, Any], contents: dict[str, Any], previous: Candidate | None = None) -> Candidate:
    typed = msgspec.convert(spec, MultigresClusterSpec)
    inputs = UpdateInputs(ClusterIdentity("ns", "c"), typed, {}, frozenset(), (), None, {}, NOW)
    live = {
        TemplateKey("ShardTemplate", name): TemplateContent("u", 1, content)
        for name, content in contents.items()
    }
    return resolve_candidate(inputs, live, previous)


@given(VERSIONS)
def test_a_candidate_after_any_edits_is_equal_to_a_new_one(versions: list[tuple[Any, Any]]) -> None:
    previous = None
    for spec, contents in versions:
        previous = candidate(spec, contents, previous)
        fresh = candidate(spec, contents)
        assert previous.resolved == fresh.resolved
        assert previous[1:] == fresh[1:]


@given(SPECS, CONTENTS, st.data())
def test_a_candidate_after_an_edit_of_one_group_is_equal_to_a_new_one(
    spec: dict[str, Any], contents: dict[str, Any], data: st.DataObject
) -> None:
    edited = {**spec, "databases": [*spec["databases"][:1], data.draw(DATABASES)]}
    assert candidate(edited, contents, candidate(spec, contents)) == candidate(edited, contents)


def large_spec(cpu: str) -> dict[str, Any]:
    def shard(name: str, cpu: str) -> dict[str, Any]:
        return {"name": name, "spec": {"pools": {"main": {"postgres": {"requests": {"cpu": cpu}}}}}}

    shards = [shard("edited", cpu), shard("other", "1")]
    return {
        "cells": [{"name": "z1"}],
        "databases": [{"name": "d", "tablegroups": [{"name": "g", "shards": shards}]}],
    }


def test_only_the_edited_shard_is_resolved_and_checked_again() -> None:
    before = candidate(large_spec("1"), {})
    after = candidate(large_spec("2"), {}, before)
    resolved = [located.shard for located in after.resolved.shards() if located.group.name == "g"]
    known = [located.shard for located in before.resolved.shards() if located.group.name == "g"]
    assert [new is old for new, old in zip(resolved, known, strict=True)] == [False, True]
    checked = [new is old for new, old in zip(after.checks, before.checks, strict=True)]
    assert checked == [new is old for new, old in zip(after.sizes, before.sizes, strict=True)]
    assert checked.count(False) == 1
