"""Who changed an object of ours, for strategies that the server does not tell it."""

from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.objects.takers import SOMEBODY, takers

SCALED: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
MARKED: dict[str, Any] = {"f:metadata": {"f:annotations": {".": {}, "f:example.com/note": {}}}}
LISTED: dict[str, Any] = {"f:spec": {"f:ports": {'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}}}}}


def live(*entries: dict[str, Any]) -> Manifest:
    return {"metadata": {"managedFields": list(entries)}}


def entry(manager: str, minute: int, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"manager": manager, "time": f"2026-01-01T00:{minute:02}:00Z", "fieldsV1": fields, **more}


@pytest.mark.parametrize(
    ("path", "taker"),
    [
        (".spec.replicas", "scaler"),
        (".metadata.annotations.example.com/note", "marker"),
        (".metadata.annotations.example.com/other", "latest"),
        (".spec.ports[0].port", "editor"),
        (".spec.ports", "editor"),
        (".data", "latest"),
    ],
)
def test_it_is_the_manager_that_holds_the_field_or_the_latest_to_write(path: str, taker: str) -> None:
    found = live(
        entry("scaler", 1, SCALED, subresource="scale"),
        entry("marker", 2, MARKED),
        entry("editor", 3, LISTED),
        entry("latest", 4, {"f:data": {"f:theirs": {}}}),
        entry("reporter", 5, {"f:status": {}}, subresource="status"),
        entry(FIELD_MANAGER, 6, SCALED),
    )
    assert takers(found, [path]) == ((taker, path),)


def test_the_latest_of_two_that_hold_it_has_changed_it() -> None:
    found = live(entry("late", 2, SCALED), entry("early", 1, SCALED))
    assert takers(found, [".spec.replicas"]) == (("late", ".spec.replicas"),)


@pytest.mark.parametrize("found", [{"metadata": {}}, live(entry(FIELD_MANAGER, 1, SCALED))])
def test_where_nobody_is_named_it_is_somebody_else(found: Manifest) -> None:
    assert takers(found, [".spec.replicas"]) == ((SOMEBODY, ".spec.replicas"),)
