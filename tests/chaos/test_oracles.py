"""Oracles that need no server."""

from typing import Any

from tests.chaos.oracles import leaking_places, orphans


def _object(name: str, uid: str, owner: str = "") -> dict[str, Any]:
    owners = [{"kind": "Cell", "name": "z1", "uid": owner}] if owner else []
    return {"kind": "Service", "metadata": {"name": name, "uid": uid, "ownerReferences": owners}}


def test_an_object_whose_owner_is_gone_is_an_orphan() -> None:
    objects = [_object("a", "1"), _object("b", "2", owner="1"), _object("c", "3", owner="9")]
    assert list(orphans(objects, lambda _: True)) == ["Service/c belongs to Cell/z1, which is gone"]


def test_a_foreign_object_is_no_orphan() -> None:
    assert list(orphans([_object("c", "3", owner="9")], lambda _: False)) == []


def test_a_place_with_a_secret_is_named() -> None:
    places = {"operator-1.log": "it is hunter2", "Cell/z1": "nothing"}
    assert leaking_places(places, ["hunter2"]) == ["a secret is in operator-1.log"]


def test_a_secret_that_is_not_known_yet_is_nowhere() -> None:
    assert leaking_places({"operator-1.log": "text"}, [""]) == []
