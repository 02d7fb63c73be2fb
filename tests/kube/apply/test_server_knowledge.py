from steward.kube.apply.server_knowledge import Memory, Settled, digest_of_pair
from steward.kube.managed_fields.field_set_match import Atomic, Vanishes
from steward.kube.managed_fields.ownership import OwnedFields, field_set
from steward.kube.objects.kinds import CONFIG_MAP, SECRET

DOUBT = Atomic(("spec", "whole"))
OTHER = Vanishes(("spec", "list"))


def owned(digest: bytes = b"1") -> OwnedFields:
    return OwnedFields(field_set(CONFIG_MAP, b"{}"), (), digest)


def test_a_doubt_is_open_until_it_was_seen() -> None:
    settled = Settled()
    assert settled.hold(CONFIG_MAP, [DOUBT]) is None
    assert settled.hold(CONFIG_MAP, []) is True

    settled.learn_schema(CONFIG_MAP, [DOUBT], [])

    assert settled.hold(CONFIG_MAP, [DOUBT]) is True
    assert settled.hold(CONFIG_MAP, [DOUBT, OTHER]) is None
    assert settled.hold(SECRET, [DOUBT]) is None


def test_one_refuted_doubt_is_enough() -> None:
    settled = Settled()
    settled.learn_schema(CONFIG_MAP, [DOUBT], [OTHER])

    assert settled.hold(CONFIG_MAP, [DOUBT, OTHER]) is False


def test_what_an_atomic_value_became_is_known_for_the_kind() -> None:
    settled = Settled()
    settled.learn_values(CONFIG_MAP, [("a",), ("b",)], [[1], "scalar"], [[1, 2], "other"])

    assert settled.became(CONFIG_MAP, ("a",), [1]) == ([1, 2],)
    assert settled.became(CONFIG_MAP, ("a",), [2]) is None
    assert settled.became(CONFIG_MAP, ("b",), "scalar") is None
    assert settled.became(SECRET, ("a",), [1]) is None


def test_a_manifest_is_known_to_change_nothing_only_while_its_object_is_as_it_was() -> None:
    settled = Settled()
    settled.learn_same(digest_of_pair({"a": 1}, owned()))

    assert settled.is_same(digest_of_pair({"a": 1}, owned()))
    assert not settled.is_same(digest_of_pair({"a": 2}, owned()))
    assert not settled.is_same(digest_of_pair({"a": 1}, owned(b"2")))


def test_a_pair_differs_by_manifest_fields_owners_and_values() -> None:
    fields = field_set(CONFIG_MAP, b'{"f:data":{}}')
    pairs = {
        digest_of_pair({"a": 1}, owned()),
        digest_of_pair({"a": 2}, owned()),
        digest_of_pair({"a": 1}, owned(b"2")),
        digest_of_pair({"a": 1}, OwnedFields(fields, (), b"1")),
        digest_of_pair({"a": 1}, OwnedFields(fields, ("u",), b"1")),
    }

    assert len(pairs) == 5


def test_memory_forgets_what_was_longest_unused() -> None:
    memory: Memory[str, int] = Memory(2)
    memory.put("a", 1)
    memory.put("b", 2)
    memory.get("a")
    memory.put("c", 3)

    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (1, None, 3)


def test_what_the_server_left_as_it_was_is_known_and_not_kept() -> None:
    settled = Settled()
    settled.learn_values(CONFIG_MAP, [("a",)], [[{"image": "app:1"}]], [[{"image": "app:1"}]])
    asked = [{"image": "app:1"}]
    became = settled.became(CONFIG_MAP, ("a",), asked)
    assert became is not None
    assert became[0] is asked


def test_a_number_that_the_server_spelt_otherwise_is_not_left_as_it_was() -> None:
    settled = Settled()
    settled.learn_values(CONFIG_MAP, [("a",)], [[1.0]], [[1]])
    assert str(settled.became(CONFIG_MAP, ("a",), [1.0])) == "([1],)"
