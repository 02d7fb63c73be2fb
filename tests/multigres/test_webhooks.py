"""Admission of clusters with terminating templates, and of changes without a new spec."""

import json
from typing import Any, cast

import msgspec
import pytest

from steward.admission.review import AdmissionResponse, Allowed, Denied, Operation, Review, ReviewedKind
from steward.kube.cache.store import Store
from steward.kube.client.client import Client
from steward.kube.objects.kinds import Kind
from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE, MultigresCacheRules
from steward.multigres.resolution.defaulting import with_defaults, without_stale_defaults
from steward.multigres.resolution.resolved import Templates
from steward.multigres.webhooks import MultigresWebhooks

TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["multigres.com/in-use-by-demo"]}
USES_GATE = {"cells": [{"zone": "z1", "cellTemplate": "gate"}]}
USES_NOTHING = {"cells": [{"zone": "z1"}]}
USES_DELETED = {"cells": [{"zone": "z1", "cellTemplate": "gone"}]}


@pytest.fixture
def webhooks() -> MultigresWebhooks:
    """With one CellTemplate, which is terminating."""
    rules = MultigresCacheRules("")
    templates: dict[Kind, Store[Any]] = {
        CORE_TEMPLATE: Store(rules.core_template),
        CELL_TEMPLATE: Store(rules.cell_template),
        SHARD_TEMPLATE: Store(rules.shard_template),
    }
    metadata = {"name": "gate", "namespace": "ns", "uid": "u", "resourceVersion": "1", **TERMINATING}
    manifest = {
        "apiVersion": CELL_TEMPLATE.api_version,
        "kind": "CellTemplate",
        "metadata": metadata,
        "spec": {},
    }
    templates[CELL_TEMPLATE].observe_write(json.dumps(manifest).encode())
    return MultigresWebhooks(cast(Client, None), Store(rules.cluster), templates, no_warnings)


async def no_warnings(_: object) -> list[str]:
    return []


async def review_cluster(
    webhooks: MultigresWebhooks, new: Any, old: Any = None, **metadata: Any
) -> AdmissionResponse:
    def manifest(spec: Any) -> msgspec.Raw:
        meta = {"name": "demo", "namespace": "ns", **metadata}
        return msgspec.Raw(msgspec.json.encode(None if spec is None else {"metadata": meta, "spec": spec}))

    operation = Operation.CREATE if old is None else Operation.UPDATE
    review = Review(
        "1", operation, name="demo", namespace="ns", raw_object=manifest(new), raw_old_object=manifest(old)
    )
    return await webhooks.validate_cluster(review)


@pytest.mark.parametrize("old", [None, USES_NOTHING], ids=["create", "update"])
async def test_a_terminating_template_cannot_be_referenced_anew(
    webhooks: MultigresWebhooks, old: Any
) -> None:
    response = await review_cluster(webhooks, USES_GATE, old)
    assert isinstance(response, Denied)
    assert "CellTemplate 'gate' is being deleted" in response.message


async def test_a_cluster_that_already_uses_a_terminating_template_can_change(
    webhooks: MultigresWebhooks,
) -> None:
    changed = {**USES_GATE, "logLevels": {"multigateway": "debug"}}
    assert isinstance(await review_cluster(webhooks, changed, USES_GATE), Allowed)


async def test_a_change_without_a_new_spec_is_allowed_without_its_templates(
    webhooks: MultigresWebhooks,
) -> None:
    assert isinstance(await review_cluster(webhooks, USES_DELETED, USES_DELETED), Allowed)


async def test_a_terminating_cluster_can_lose_its_finalizer(webhooks: MultigresWebhooks) -> None:
    response = await review_cluster(
        webhooks, USES_DELETED, USES_NOTHING, deletionTimestamp="2026-01-01T00:00:00Z"
    )
    assert isinstance(response, Allowed)


NO_TEMPLATES = Templates({}, {}, {})
WITH_DEFAULT = Templates({}, {"default": CellTemplateSpec()}, {})


def test_a_default_template_that_is_created_later_is_not_applied_with_an_edit() -> None:
    defaulted = with_defaults(USES_NOTHING, NO_TEMPLATES)
    once = with_defaults(without_stale_defaults(defaulted), WITH_DEFAULT, defaulted)
    assert once == defaulted
    assert with_defaults(without_stale_defaults(once), WITH_DEFAULT, once) == defaulted


def test_a_cluster_on_the_default_template_stays_on_it_when_it_is_replaced() -> None:
    defaulted = with_defaults(USES_NOTHING, WITH_DEFAULT)
    assert defaulted["templateDefaults"] == {"cellTemplate": "default"}
    assert with_defaults(USES_NOTHING, WITH_DEFAULT, defaulted) == defaulted


def test_a_cluster_from_before_the_webhooks_keeps_the_default_template_that_it_used() -> None:
    assert with_defaults(USES_NOTHING, WITH_DEFAULT, USES_NOTHING)["templateDefaults"] == {
        "cellTemplate": "default"
    }


async def test_an_inadvisable_template_is_warned_about_when_it_is_applied(
    webhooks: MultigresWebhooks,
) -> None:
    spec = {"pools": {"main": {"replicas": 2, "pvcDeletionPolicy": {"whenDeleted": "Delete"}}}}
    manifest = {"metadata": {"name": "standard", "namespace": "ns"}, "spec": spec}
    review = Review(
        "1",
        Operation.CREATE,
        ReviewedKind("multigres.com", "v1alpha1", "ShardTemplate"),
        name="standard",
        namespace="ns",
        raw_object=msgspec.Raw(msgspec.json.encode(manifest)),
    )
    response = await webhooks.validate_template(review)
    assert isinstance(response, Allowed)
    assert response.warnings == (
        "spec.pools[main].replicas: deprecated; write replicasPerCell: 2",
        "spec.pools[main].pvcDeletionPolicy.whenDeleted: Delete loses all data when the pool is deleted",
    )
