"""Random stories: deterministic, varied, and valid at every step."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec
import pytest

from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.resolution.resolve import resolve
from steward.multigres.resolution.resolved import ClusterIdentity, Templates
from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.template import validate_template
from tests.chaos.cluster_model import NAME, TEMPLATE, ClusterModel, Manifest
from tests.chaos.fleet_model import FleetModel
from tests.chaos.generator import draw_story
from tests.chaos.story import AnyAction, Edit

NUMBERS = range(1, 61)
STORIES = [draw_story(11, number) for number in NUMBERS]
Model = TypeVar("Model", ClusterModel, FleetModel)
SOURCE = {"type": "sqlite", "sqlite": {"file": "a.db", "table": "customers"}}


def test_the_same_seed_and_number_give_the_same_story() -> None:
    assert [draw_story(11, number) for number in NUMBERS] == STORIES


def test_another_seed_gives_other_stories() -> None:
    assert [draw_story(12, number) for number in NUMBERS] != STORIES


@pytest.mark.parametrize("subject", ["cluster", "fleet"])
def test_every_action_is_drawn_for_some_life(subject: str) -> None:
    drawn = {type(action) for story in STORIES if story.subject == subject for action in story.actions}
    elsewhere = {"cluster": {"Approve", "DatabaseFault"}, "fleet": {"TopologyFault"}}
    assert {kind.__name__ for kind in set(AnyAction.__args__) - drawn} == elsewhere[subject]


def _states(subject: str, make: Callable[[], Model]) -> Iterator[Model]:
    """Every state of the model, after each edit of each story."""
    for story in STORIES:
        model = make()
        for action in story.actions if story.subject == subject else ():
            if isinstance(action, Edit):
                model.apply(action)
                yield model


def test_every_edit_leaves_a_valid_cluster() -> None:
    for model in _states("cluster", ClusterModel):
        _assert_resolves(model.manifests("ns"), model.is_broken)


def _assert_resolves(manifests: list[Manifest], is_broken: bool) -> None:
    _, template, cluster = manifests
    templates = Templates({}, {}, {TEMPLATE: msgspec.convert(template["spec"], ShardTemplateSpec)})
    resolved = resolve(
        ClusterIdentity("ns", NAME), msgspec.convert(cluster["spec"], MultigresClusterSpec), templates
    )
    assert bool(resolved.problems) == is_broken


def test_every_edit_leaves_a_valid_fleet() -> None:
    for model in _states("fleet", FleetModel):
        registry, *templates = model.manifests(SOURCE)
        msgspec.convert(registry["spec"], TenantRegistrySpec)
        for template in templates:
            assert validate_template(msgspec.convert(template["spec"], TenantTemplateSpec)) == []
