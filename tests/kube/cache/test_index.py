from steward.kube.cache.index import Index, by_label, by_namespace, by_owner
from steward.kube.objects.kinds import Key
from steward.kube.objects.meta import Metadata, ObjectMeta, OwnerReference

KEY = Key("n", "a")


def obj(namespace: str = "n", owners: tuple[str, ...] = (), **labels: str) -> Metadata:
    references = tuple(OwnerReference(uid=uid) for uid in owners)
    return Metadata(ObjectMeta(name="a", namespace=namespace, labels=labels, owner_references=references))


def test_an_object_is_found_under_each_of_its_values() -> None:
    index: Index[Metadata] = Index(by_owner)
    index.update(KEY, None, obj(owners=("1", "2")))

    assert [list(index.keys(uid)) for uid in ("1", "2", "3")] == [[KEY], [KEY], []]


def test_an_object_moves_with_its_values() -> None:
    index: Index[Metadata] = Index(by_label("app"))
    index.update(KEY, None, obj(app="x"))
    index.update(KEY, obj(app="x"), obj(app="y"))

    assert (list(index.keys("x")), list(index.keys("y"))) == ([], [KEY])

    index.update(KEY, obj(app="y"), None)
    assert list(index.keys("y")) == []


def test_an_object_without_the_label_is_under_no_value() -> None:
    index: Index[Metadata] = Index(by_label("app"))
    index.update(KEY, None, obj())

    assert list(index.keys("")) == []


def test_objects_are_found_by_namespace() -> None:
    index: Index[Metadata] = Index(by_namespace)
    index.update(KEY, None, obj("n"))

    assert list(index.keys("n")) == [KEY]
