"""What the webhook says to a cluster whose template is on its way out, and to changes that touch no spec."""

import json
from typing import Any, cast

import msgspec
import pytest

from steward.admission.review import Allowed, Denied, Operation, Review, Verdict
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind
from steward.multigres.api.cell_template import CellTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE, Rules
from steward.multigres.resolution.defaulting import taken_back, with_defaults
from steward.multigres.resolution.resolved import Templates
from steward.multigres.webhooks import MultigresWebhooks

GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["multigres.com/in-use-by-demo"]}
USES_GATE = {"cells": [{"zone": "z1", "cellTemplate": "gate"}]}
USES_NOTHING = {"cells": [{"zone": "z1"}]}
USES_WHAT_IS_GONE = {"cells": [{"zone": "z1", "cellTemplate": "gone"}]}


@pytest.fixture
def webhooks() -> MultigresWebhooks:
    """With one CellTemplate, which is being deleted."""
    rules = Rules("")
    templates: dict[Kind, Store[Any]] = {
        CORE_TEMPLATE: Store(rules.core_template),
        CELL_TEMPLATE: Store(rules.cell_template),
        SHARD_TEMPLATE: Store(rules.shard_template),
    }
    metadata = {"name": "gate", "namespace": "ns", "uid": "u", "resourceVersion": "1", **GOING}
    manifest = {
        "apiVersion": CELL_TEMPLATE.api_version,
        "kind": "CellTemplate",
        "metadata": metadata,
        "spec": {},
    }
    templates[CELL_TEMPLATE].observe(json.dumps(manifest).encode())
    return MultigresWebhooks(cast(Client, None), Store(rules.cluster), templates, no_warnings)


async def no_warnings(_: object) -> list[str]:
    return []


async def verdict(webhooks: MultigresWebhooks, new: Any, old: Any = None, **metadata: Any) -> Verdict:
    def manifest(spec: Any) -> msgspec.Raw:
        meta = {"name": "demo", "namespace": "ns", **metadata}
        return msgspec.Raw(msgspec.json.encode(None if spec is None else {"metadata": meta, "spec": spec}))

    operation = Operation.CREATE if old is None else Operation.UPDATE
    review = Review(
        "1", operation, name="demo", namespace="ns", raw_object=manifest(new), raw_old_object=manifest(old)
    )
    return await webhooks.validate_cluster(review)


@pytest.mark.parametrize("old", [None, USES_NOTHING], ids=["create", "update"])
async def test_a_template_that_is_being_deleted_is_no_choice_any_more(
    webhooks: MultigresWebhooks, old: Any
) -> None:
    refused = await verdict(webhooks, USES_GATE, old)
    assert isinstance(refused, Denied)
    assert "CellTemplate 'gate' is being deleted" in refused.message


async def test_who_used_it_before_may_go_on_changing_other_things(webhooks: MultigresWebhooks) -> None:
    changed = {**USES_GATE, "logLevels": {"multigateway": "debug"}}
    assert isinstance(await verdict(webhooks, changed, USES_GATE), Allowed)


async def test_a_change_that_touches_no_spec_passes_whatever_became_of_its_templates(
    webhooks: MultigresWebhooks,
) -> None:
    assert isinstance(await verdict(webhooks, USES_WHAT_IS_GONE, USES_WHAT_IS_GONE), Allowed)


async def test_a_cluster_on_its_way_out_may_lose_its_finalizer(webhooks: MultigresWebhooks) -> None:
    passed = await verdict(
        webhooks, USES_WHAT_IS_GONE, USES_NOTHING, deletionTimestamp="2026-01-01T00:00:00Z"
    )
    assert isinstance(passed, Allowed)


NO_TEMPLATES = Templates({}, {}, {})
WITH_DEFAULT = Templates({}, {"default": CellTemplateSpec()}, {})


def test_a_default_template_that_is_made_later_does_not_come_in_with_an_edit() -> None:
    written = with_defaults(USES_NOTHING, NO_TEMPLATES)
    once = with_defaults(taken_back(written), WITH_DEFAULT, written)
    assert once == written
    assert with_defaults(taken_back(once), WITH_DEFAULT, once) == written


def test_a_cluster_on_the_default_template_stays_on_it_when_it_is_replaced() -> None:
    written = with_defaults(USES_NOTHING, WITH_DEFAULT)
    assert written["templateDefaults"] == {"cellTemplate": "default"}
    assert with_defaults(USES_NOTHING, WITH_DEFAULT, written) == written


def test_a_cluster_from_before_the_webhooks_keeps_the_default_template_that_it_used() -> None:
    assert with_defaults(USES_NOTHING, WITH_DEFAULT, USES_NOTHING)["templateDefaults"] == {
        "cellTemplate": "default"
    }
