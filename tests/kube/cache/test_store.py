"""The store without a watch."""

import logging
from typing import Any

import msgspec
import pytest

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import LARGE_BYTES, ObjectChange, Store
from steward.kube.cache.view_decoder import Body
from steward.kube.managed_fields.ownership import OwnedFields, Ownership, intern_field_set
from steward.kube.objects.kinds import CONFIG_MAP, Key
from steward.kube.objects.meta import Metadata, ObjectMeta

KEY = Key("n", "a")


def body(version: int, name: str = "a", uid: str = "u1", **metadata: Any) -> bytes:
    meta = {"name": name, "namespace": "n", "uid": uid, "resourceVersion": str(version), **metadata}
    return msgspec.json.encode({"metadata": meta})


def deleted(version: int, uid: str = "u1") -> ObjectMeta:
    return ObjectMeta(name="a", namespace="n", uid=uid, resource_version=str(version))


class RecordedChanges:
    """The changes that a subscriber got, as old and new version."""

    def __init__(self, store: Store[Metadata]) -> None:
        self.changes: list[ObjectChange[Metadata]] = []
        store.subscribe(self.changes.append)

    def __call__(self) -> list[tuple[str, str]]:
        return [(_version(change.old), _version(change.new)) for change in self.changes]


def _version(obj: Metadata | None) -> str:
    return "" if obj is None else obj.metadata.resource_version


@pytest.fixture
def store() -> Store[Metadata]:
    return Store(CacheRule(CONFIG_MAP, Metadata))


@pytest.fixture
def split() -> Store[Metadata]:
    return Store(CacheRule(CONFIG_MAP, Metadata, {"*": "a=b", "n": ""}))


def version_in(store: Store[Metadata]) -> str:
    return _version(store.get(KEY))


def test_a_subscriber_is_called_after_the_store_holds_the_change(store: Store[Metadata]) -> None:
    changes = RecordedChanges(store)
    store.add_index("name", lambda obj: [obj.metadata.name])
    seen: list[int] = []
    store.subscribe(lambda change: seen.append(len(store.by_index("name", "a"))))

    store.put_watched(0, body(1))
    store.put_watched(0, body(2))
    store.remove_watched(0, deleted(3))

    assert changes() == [("", "1"), ("1", "2"), ("2", "")]
    assert seen == [1, 1, 0]


def test_a_late_subscriber_is_first_called_for_every_cached_object(store: Store[Metadata]) -> None:
    store.put_watched(0, body(1))

    assert RecordedChanges(store)() == [("", "1")]


def test_changes_are_initial_until_the_first_list_is_complete(store: Store[Metadata]) -> None:
    changes = RecordedChanges(store)
    store.put_watched(0, body(1))
    assert not store.synced

    store.finish_list(0, {KEY}, "1")
    store.put_watched(0, body(2))

    assert store.synced
    assert [change.initial for change in changes.changes] == [True, False]


@pytest.mark.parametrize("version", [1, 2])
def test_an_object_is_never_replaced_by_an_older_version(store: Store[Metadata], version: int) -> None:
    store.put_watched(0, body(2))
    changes = RecordedChanges(store)

    store.put_watched(0, body(version))

    assert version_in(store) == "2"
    assert changes() == [("", "2")]


def test_a_list_removes_objects_that_it_lacks(store: Store[Metadata]) -> None:
    store.put_watched(0, body(1))
    store.put_watched(0, body(2, "b", "u2"))
    changes = RecordedChanges(store)

    store.finish_list(0, {Key("n", "b")}, "5")

    assert store.get(KEY) is None
    assert changes()[-1] == ("1", "")


def test_a_list_does_not_remove_an_object_that_we_wrote_after_it(store: Store[Metadata]) -> None:
    store.observe_write(body(9))

    store.finish_list(0, set(), "5")

    assert version_in(store) == "9"


class TestReadYourWrites:
    def test_an_answer_enters_when_it_is_newer(self, store: Store[Metadata]) -> None:
        store.put_watched(0, body(5))

        store.observe_write(body(4))
        assert version_in(store) == "5"
        store.observe_write(body(6))
        assert version_in(store) == "6"

    def test_the_answer_to_a_write_outside_the_rule_is_not_cached(self) -> None:
        store = Store(CacheRule(CONFIG_MAP, Metadata, {"*": "a=b"}))

        assert store.observe_write(body(1)) is not None
        assert store.get(KEY) is None

    def test_a_store_with_a_field_selector_takes_only_writes_to_cached_objects(self) -> None:
        store = Store(CacheRule(CONFIG_MAP, Metadata, field_selector="metadata.name=a"))
        store.observe_write(body(1))
        assert store.get(KEY) is None

        store.put_watched(0, body(2))
        store.observe_write(body(3))
        assert version_in(store) == "3"

    def test_an_answer_that_does_not_fit_the_view_is_no_error(
        self, store: Store[Metadata], caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING):
            assert store.observe_write(b'{"metadata": {"name": 1}}') is None

        assert "does not fit the cache" in caplog.text

    def test_a_late_event_does_not_restore_an_object_that_we_deleted(self, store: Store[Metadata]) -> None:
        store.put_watched(0, body(1))
        store.observe_delete(KEY, "u1")
        assert store.get(KEY) is None

        store.put_watched(0, body(2))

        assert store.get(KEY) is None

    def test_an_object_that_is_being_deleted_is_still_there(self, store: Store[Metadata]) -> None:
        store.put_watched(0, body(1))
        store.observe_delete(KEY, "u1")

        store.put_watched(0, body(2, deletionTimestamp="2026-01-01T00:00:00Z"))

        assert version_in(store) == "2"

    def test_a_namesake_is_another_object(self, store: Store[Metadata]) -> None:
        store.put_watched(0, body(1))
        store.observe_delete(KEY, "u1")

        store.observe_write(body(5, uid="u2"))
        store.remove_watched(0, deleted(3, "u1"))
        store.observe_delete(KEY, "u1")

        assert version_in(store) == "5"

    def test_a_deleted_uid_that_is_not_cached_removes_nothing(self, store: Store[Metadata]) -> None:
        store.put_watched(0, body(1))

        store.observe_delete(KEY, "other")

        assert version_in(store) == "1"


class TestTwoWatches:
    def test_an_object_is_removed_when_no_watch_selects_it(self, split: Store[Metadata]) -> None:
        split.put_watched(0, body(1))
        split.put_watched(1, body(1))

        split.remove_watched(0, deleted(2))
        assert version_in(split) == "1"
        split.remove_watched(1, deleted(2))
        assert split.get(KEY) is None

    def test_a_list_of_one_watch_leaves_the_objects_of_the_other(self, split: Store[Metadata]) -> None:
        split.put_watched(1, body(1))

        split.finish_list(0, set(), "5")

        assert version_in(split) == "1"
        assert not split.synced

    def test_an_answer_counts_for_every_watch_that_will_see_it(self, split: Store[Metadata]) -> None:
        split.observe_write(body(1, labels={"a": "b"}))

        split.remove_watched(0, deleted(2))
        assert version_in(split) == "1"
        split.remove_watched(1, deleted(2))
        assert split.get(KEY) is None


def test_an_event_behind_its_deletion_is_late(store: Store[Metadata]) -> None:
    store.put_watched(0, body(1))
    store.remove_watched(0, deleted(3))

    store.put_watched(0, body(2))
    assert store.get(KEY) is None

    store.put_watched(0, body(4))
    assert version_in(store) == "4"


def test_all_objects_of_a_kind_that_is_no_longer_served_are_removed(store: Store[Metadata]) -> None:
    store.put_watched(0, body(1))
    store.finish_list(0, {KEY}, "1")
    changes = RecordedChanges(store)

    store.mark_kind_missing()

    assert (store.available, store.synced, len(store)) == (False, False, 0)
    assert changes()[-1] == ("1", "")

    store.put_watched(0, body(2, uid="u2"))
    store.finish_list(0, {KEY}, "2")
    assert (store.available, store.synced) == (True, True)


def test_lookups_by_namespace_owner_and_label(store: Store[Metadata]) -> None:
    store.add_label_index("app")
    store.put_watched(0, body(1, labels={"app": "x"}, ownerReferences=[{"uid": "o"}]))

    assert [len(found) for found in (store.list(), store.list("n"), store.list("m"))] == [1, 1, 0]
    assert len(store.by_owner("o")) == len(store.by_index("app", "x")) == 1


def test_lookups_by_owner_follow_changes_after_the_first_lookup(store: Store[Metadata]) -> None:
    store.put_watched(0, body(1, ownerReferences=[{"uid": "o"}]))
    assert len(store.by_owner("o")) == 1

    store.put_watched(0, body(2, ownerReferences=[{"uid": "p"}]))
    assert (len(store.by_owner("o")), len(store.by_owner("p"))) == (0, 1)


def test_a_failing_subscriber_stops_neither_the_store_nor_the_others(
    store: Store[Metadata], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(change: ObjectChange[Metadata]) -> None:
        raise RuntimeError("broken")

    store.subscribe(fail)
    changes = RecordedChanges(store)

    store.put_watched(0, body(1))

    assert changes() == [("", "1")]
    assert "a subscriber to ConfigMap" in caplog.text


def test_a_problem_is_reported_until_its_watch_works_again(split: Store[Metadata]) -> None:
    split.report_problem(0, "forbidden")
    split.report_problem(1, "refused")
    split.report_problem(0, "")

    assert split.problem == "refused"


def test_a_body_listener_gets_every_version_and_its_failure_is_only_logged(
    store: Store[Metadata], caplog: pytest.LogCaptureFixture
) -> None:
    shown: list[tuple[str, bytes]] = []

    def fail(seen: Metadata, whole: Body) -> None:
        raise RuntimeError("full")

    store.add_body_listener(fail)
    store.add_body_listener(lambda seen, whole: shown.append((seen.metadata.resource_version, bytes(whole))))
    store.put_watched(0, body(1))
    store.observe_write(body(2))
    store.put_watched(0, body(2))
    store.put_watched(0, body(1))
    assert shown == [("1", body(1)), ("2", body(2))]
    assert version_in(store) == "2"
    assert "a body listener of" in caplog.text


def test_a_large_version_known_from_a_write_is_not_decoded_again() -> None:
    decoded: list[int] = []

    def reduce(whole: bytes) -> bytes:
        decoded.append(len(whole))
        return whole

    store = Store(CacheRule(CONFIG_MAP, Metadata, reduce=reduce))
    written = body(5, annotations={"text": "x" * LARGE_BYTES})
    store.observe_write(written)
    assert store.put_watched(0, msgspec.Raw(written)).resource_version == "5"
    assert len(decoded) == 1
    store.put_watched(0, msgspec.Raw(body(6, annotations={"text": "y" * LARGE_BYTES})))
    assert version_in(store) == "6"
    assert len(decoded) == 2


@pytest.fixture
def labelled() -> Store[Metadata]:
    """Accepts objects with a label only."""
    return Store(CacheRule(CONFIG_MAP, Metadata, accepts=lambda meta: "kept" in meta.labels))


def test_an_object_that_the_rule_does_not_accept_is_left_out(labelled: Store[Metadata]) -> None:
    labelled.put_watched(0, body(1))
    labelled.observe_write(body(2))
    assert len(labelled) == 0
    labelled.put_watched(0, body(3, labels={"kept": ""}))
    assert version_in(labelled) == "3"


def test_an_object_that_is_no_longer_accepted_is_removed(labelled: Store[Metadata]) -> None:
    changes = RecordedChanges(labelled)
    labelled.put_watched(0, body(1, labels={"kept": ""}))
    labelled.put_watched(0, body(2))
    assert changes() == [("", "1"), ("1", "")]


def test_an_index_that_is_first_used_late_has_all_objects_and_follows_changes(store: Store[Metadata]) -> None:
    owned = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "owner"}]}
    store.put_watched(0, body(1, **owned))
    assert [found.metadata.name for found in store.by_owner("owner")] == ["a"]
    store.put_watched(0, body(2, name="b", uid="u2", **owned))
    assert [found.metadata.name for found in store.by_owner("owner")] == ["a", "b"]


def test_status_fields_that_a_writer_found_are_not_kept_of_objects_that_others_report() -> None:
    store = Store(CacheRule(CONFIG_MAP, Metadata, owned_by="us", reports=lambda meta: meta.name == "own"))
    fields = OwnedFields(intern_field_set(CONFIG_MAP, b"{}"), (), b"digest")
    for name in ("own", "other"):
        metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "2"}
        store.observe_write(msgspec.json.encode({"metadata": metadata}), Ownership(fields, fields))
    assert store.owned_fields(Key("shop", "own"), "status") == fields
    assert store.owned_fields(Key("shop", "other"), "status") is None
    assert store.owned_fields(Key("shop", "other")) == fields
