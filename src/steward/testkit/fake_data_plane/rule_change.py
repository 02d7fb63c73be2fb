"""Reads a forced change of a shard's rule from a request, and checks it as the real multiadmin does. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from steward.testkit.fake_data_plane.multiadmin_answers import (
    FAILED_PRECONDITION,
    INVALID_ARGUMENT,
    NOT_FOUND,
    UNAVAILABLE,
    MultiadminError,
)
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId, ShardRule
from steward.testkit.fake_data_plane.shard_model import ShardView

MULTI_CELL = ("QUORUM_TYPE_MULTI_CELL_AT_LEAST_N", 4)


def proposed_rule(
    body: Mapping[str, Any], view: ShardView | None, recorded: Collection[ServerId]
) -> ShardRule:
    """The rule to install; raises MultiadminError if it is incomplete or its members do not answer."""
    proposal = _field(_field(body, "proposed_transition") or {}, "proposal")
    if not isinstance(proposal, dict):
        raise MultiadminError(INVALID_ARGUMENT, "proposed_transition.proposal is required")
    if (_field(body, "cert") is None) == (_field(body, "unsafe_derive_cert") is None):
        raise MultiadminError(INVALID_ARGUMENT, "exactly one of cert or unsafe_derive_cert must be set")
    cohort = frozenset(_server(each) for each in _field(proposal, "cohort_members") or [])
    if not cohort:
        raise MultiadminError(INVALID_ARGUMENT, "cohort_members is required")
    for member in sorted(cohort - set(recorded)):
        raise MultiadminError(NOT_FOUND, f"pooler {member.cell}_{member.name} not found in topology")
    leader, policy = _server(_field(proposal, "leader_id") or {}), _policy(proposal)
    _require_answers(view, leader, cohort, policy)
    before = view.state.rule if view is not None else None
    return ShardRule(before.term + 1 if before is not None else 1, 0, leader, cohort, policy)


def _require_answers(
    view: ShardView | None, leader: ServerId, cohort: frozenset[ServerId], policy: DurabilityPolicy
) -> None:
    if view is None:
        raise MultiadminError(FAILED_PRECONDITION, "no multiorch registered in any cell")
    ready = view.ready_servers() & cohort
    if leader not in ready or not policy.is_met_by(ready):
        raise MultiadminError(UNAVAILABLE, "too few cohort members are reachable")


def _policy(proposal: Mapping[str, Any]) -> DurabilityPolicy:
    given = _field(proposal, "durability_policy") or {}
    required = int(_field(given, "required_count") or 0)
    if required < 1:
        raise MultiadminError(INVALID_ARGUMENT, "durability_policy.required_count must be at least 1")
    return DurabilityPolicy(required, _field(given, "quorum_type") in MULTI_CELL)


def _server(given: Mapping[str, Any]) -> ServerId:
    return ServerId(str(given.get("cell", "")), str(given.get("name", "")))


def _field(message: Mapping[str, Any], name: str) -> Any:
    """A field by its protobuf name or its JSON name."""
    first, *others = name.split("_")
    return message.get(name, message.get(first + "".join(map(str.capitalize, others))))
