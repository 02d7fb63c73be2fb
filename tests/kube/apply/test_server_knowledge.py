from steward.kube.apply.server_knowledge import ServerKnowledge, noop_digest
from steward.kube.managed_fields.field_set_match import AtomicMap, Untracked
from steward.kube.managed_fields.ownership import OwnedFields, intern_field_set
from steward.kube.objects.kinds import CONFIG_MAP, SECRET

QUESTION = AtomicMap(("spec", "whole"))
OTHER = Untracked(("spec", "list"))


def owned(digest: bytes = b"1") -> OwnedFields:
    return OwnedFields(intern_field_set(CONFIG_MAP, b"{}"), (), digest)


def test_a_schema_question_is_open_until_an_answer_is_remembered() -> None:
    knowledge = ServerKnowledge()
    assert knowledge.schema_answer(CONFIG_MAP, [QUESTION]) is None
    assert knowledge.schema_answer(CONFIG_MAP, []) is True

    knowledge.remember_schema(CONFIG_MAP, [QUESTION], [])

    assert knowledge.schema_answer(CONFIG_MAP, [QUESTION]) is True
    assert knowledge.schema_answer(CONFIG_MAP, [QUESTION, OTHER]) is None
    assert knowledge.schema_answer(SECRET, [QUESTION]) is None


def test_one_refuted_question_is_enough() -> None:
    knowledge = ServerKnowledge()
    knowledge.remember_schema(CONFIG_MAP, [QUESTION], [OTHER])

    assert knowledge.schema_answer(CONFIG_MAP, [QUESTION, OTHER]) is False


def test_the_stored_form_of_an_atomic_value_is_known_for_the_kind() -> None:
    knowledge = ServerKnowledge()
    knowledge.remember_values(CONFIG_MAP, [("a",), ("b",)], [[1], "scalar"], [[1, 2], "other"])

    assert knowledge.stored_as(CONFIG_MAP, ("a",), [1]) == ([1, 2],)
    assert knowledge.stored_as(CONFIG_MAP, ("a",), [2]) is None
    assert knowledge.stored_as(CONFIG_MAP, ("b",), "scalar") is None
    assert knowledge.stored_as(SECRET, ("a",), [1]) is None


def test_a_noop_is_known_only_while_the_object_is_unchanged() -> None:
    knowledge = ServerKnowledge()
    knowledge.remember_noop(noop_digest({"a": 1}, owned()))

    assert knowledge.is_noop(noop_digest({"a": 1}, owned()))
    assert not knowledge.is_noop(noop_digest({"a": 2}, owned()))
    assert not knowledge.is_noop(noop_digest({"a": 1}, owned(b"2")))


def test_a_noop_digest_depends_on_manifest_fields_owners_and_values() -> None:
    fields = intern_field_set(CONFIG_MAP, b'{"f:data":{}}')
    pairs = {
        noop_digest({"a": 1}, owned()),
        noop_digest({"a": 2}, owned()),
        noop_digest({"a": 1}, owned(b"2")),
        noop_digest({"a": 1}, OwnedFields(fields, (), b"1")),
        noop_digest({"a": 1}, OwnedFields(fields, ("u",), b"1")),
    }

    assert len(pairs) == 5


def test_a_value_that_the_server_stored_unchanged_is_known_and_not_kept() -> None:
    knowledge = ServerKnowledge()
    knowledge.remember_values(CONFIG_MAP, [("a",)], [[{"image": "app:1"}]], [[{"image": "app:1"}]])
    asked = [{"image": "app:1"}]
    stored = knowledge.stored_as(CONFIG_MAP, ("a",), asked)
    assert stored is not None
    assert stored[0] is asked


def test_a_number_that_the_server_rewrote_is_not_unchanged() -> None:
    knowledge = ServerKnowledge()
    knowledge.remember_values(CONFIG_MAP, [("a",)], [[1.0]], [[1]])
    assert str(knowledge.stored_as(CONFIG_MAP, ("a",), [1.0])) == "([1],)"
