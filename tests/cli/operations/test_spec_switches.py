"""Which object `pause`, `resume`, `hibernate` and `wake` mean, what they write, and when the operator has acted."""

from typing import Any

import pytest

from steward.cli.operations.outcome import RequestError
from steward.cli.operations.spec_switches import (
    HIBERNATION,
    PAUSED,
    Switch,
    check_changeable,
    check_not_paused,
    is_awake,
    is_hibernated,
    is_paused,
    is_resumed,
    only_object,
    pausable_kinds,
)
from steward.kube.objects.kinds import Key, Ref
from steward.multigres.cache_rules import CLUSTER
from steward.tenants.cache_rules import REGISTRY

REF = Ref(CLUSTER, Key("shop", "db"))


def found(generation: int = 2, observed: int = 2, phase: str = "", **conditions: str) -> dict[str, Any]:
    listed = [{"type": name, "status": status} for name, status in conditions.items()]
    status = {"observedGeneration": observed, "phase": phase, "conditions": listed}
    return {"metadata": {"generation": generation, "resourceVersion": "7"}, "spec": {}, "status": status}


def test_a_bare_name_may_mean_any_kind_that_can_be_paused() -> None:
    kinds, name = pausable_kinds("db")
    assert [kind.kind for kind in kinds] == ["MultigresCluster", "TenantRegistry", "TenantTemplate", "Tenant"]
    assert name == "db"


@pytest.mark.parametrize("word", ["mgc", "multigrescluster", "MultigresClusters.multigres.com"])
def test_a_kind_has_every_spelling_of_kubectl(word: str) -> None:
    assert pausable_kinds(f"{word}/db") == ((CLUSTER,), "db")


@pytest.mark.parametrize("what", ["pod/db", "mgc/", "/"])
def test_a_kind_that_cannot_be_paused_is_wrong_usage(what: str) -> None:
    with pytest.raises(
        ValueError, match="kinds are: multigrescluster, tenantregistry, tenanttemplate, tenant"
    ):
        pausable_kinds(what)


def test_a_name_of_several_objects_is_an_error_that_names_them() -> None:
    pair = [(REF, found()), (Ref(REGISTRY, Key("shop", "db")), found())]
    with pytest.raises(RequestError, match="pass one of multigrescluster/db, tenantregistry/db"):
        only_object(pair, "db", "shop")


def test_a_name_of_nothing_says_where_to_look() -> None:
    with pytest.raises(RequestError, match="there is no db in namespace shop; `steward tree -A` shows all"):
        only_object([], "db", "shop")


def test_a_switch_is_set_at_the_version_that_was_read_and_removed_when_it_is_turned_off() -> None:
    assert Switch(PAUSED, True).patch(found()).changes == {
        "metadata": {"resourceVersion": "7"},
        "spec": {"paused": True},
    }
    assert Switch(HIBERNATION, False).patch(found()).changes["spec"] == {"hibernation": None}


@pytest.mark.parametrize("spec", [{}, {"paused": False}])
def test_a_missing_and_a_false_field_are_both_off(spec: dict[str, bool]) -> None:
    assert Switch(PAUSED, False).is_set({"spec": spec})
    assert not Switch(PAUSED, True).is_set({"spec": spec})


def test_the_operator_has_paused_when_its_condition_says_so() -> None:
    assert is_paused(found(Paused="True"))
    assert not is_paused(found())
    assert is_resumed(found())
    assert not is_resumed(found(Paused="True"))
    assert not is_resumed(found(observed=1)), "the status is about an older spec"


def test_a_cluster_hibernates_when_its_newest_spec_has_that_phase() -> None:
    assert is_hibernated(found(phase="Hibernated"))
    assert not is_hibernated(found(observed=1, phase="Hibernated"))
    assert not is_hibernated(found(phase="Progressing"))


def test_a_cluster_is_awake_when_it_is_ready_and_available_by_its_newest_spec() -> None:
    assert is_awake(found(Available="True", Ready="True"))
    assert not is_awake(found(observed=1, Available="True", Ready="True"))
    assert not is_awake(found(Available="False", Ready="True"))


def test_nothing_is_switched_of_an_object_that_is_being_deleted() -> None:
    deleted = found()
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    with pytest.raises(RequestError, match="MultigresCluster shop/db is being deleted"):
        check_changeable(REF, deleted)


def test_a_paused_cluster_names_the_command_that_resumes_it() -> None:
    paused = {**found(), "spec": {"paused": True}}
    with pytest.raises(RequestError, match="`steward resume multigrescluster/db -n shop`"):
        check_not_paused(REF, paused)
