"""Builders for kwok stages: the conditions under which an object matches, and the steps that follow. Pure."""

from __future__ import annotations

from typing import Any

Stage = dict[str, Any]
Condition = dict[str, Any]
Step = dict[str, Any]


def stage(name: str, kind: str, when: list[Condition], steps: list[Step]) -> Stage:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": when},
            "steps": steps,
        },
    }


def after(delayed: Stage, annotation: str) -> Stage:
    """`delayed`, with the delay that the annotation gives (`1500ms`, `5s`), if it is present."""
    expression = f'.metadata.annotations["{annotation}"]'
    delayed["spec"]["delay"] = {"durationMilliseconds": 0, "durationFrom": {"jq": {"expression": expression}}}
    return delayed


def is_one_of(query: str, *values: str) -> Condition:
    return {"jq": {"key": query, "operator": "In", "values": list(values)}}


def is_not(query: str, *values: str) -> Condition:
    return {"jq": {"key": query, "operator": "NotIn", "values": list(values)}}


def exists(query: str) -> Condition:
    return {"jq": {"key": query, "operator": "Exists"}}


def absent(query: str) -> Condition:
    return {"jq": {"key": query, "operator": "DoesNotExist"}}


def annotated(annotation: str, value: str) -> Condition:
    return is_one_of(f'.metadata.annotations["{annotation}"]', value)


def not_annotated(annotation: str) -> Condition:
    return absent(f'.metadata.annotations["{annotation}"]')


def status_patch(template: str) -> Step:
    return {"patch": {"subresource": "status", "root": "status", "template": template}}


LIVE = absent(".metadata.deletionTimestamp")
READY_STATUS = '.status.conditions.[] | select(.type == "Ready") | .status'
