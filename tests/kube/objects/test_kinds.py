import pytest

from steward.kube.objects.kinds import DEPLOYMENT, Key, Kind, Ref, ref_of


@pytest.mark.parametrize(
    ("kind", "group", "version"),
    [
        (Kind("v1", "Pod"), "", "v1"),
        (DEPLOYMENT, "apps", "v1"),
        (Kind("a.b.c/v1beta1", "X"), "a.b.c", "v1beta1"),
    ],
)
def test_a_kind_knows_its_group_and_version(kind: Kind, group: str, version: str) -> None:
    assert (kind.group, kind.version) == (group, version)


def test_a_reference_reads_as_a_person_would_write_it() -> None:
    assert str(Ref(DEPLOYMENT, Key("shop", "web"))) == "Deployment shop/web"
    assert str(Ref(Kind("v1", "Node"), Key("", "n1"))) == "Node n1"


def test_the_reference_of_a_manifest_holds_kind_namespace_and_name() -> None:
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    assert ref_of(manifest) == Ref(DEPLOYMENT, Key("shop", "web"))


def test_a_manifest_without_namespace_is_cluster_scoped() -> None:
    assert ref_of({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}).key == Key("", "n1")
