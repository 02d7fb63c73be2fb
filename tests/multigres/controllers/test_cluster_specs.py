"""Which versions of a cluster share one decoded spec."""

from typing import Any

import msgspec
import pytest

from steward.multigres.controllers.cluster_specs import ClusterSpecs
from steward.multigres.views import ClusterView


def cluster(zone: str = "z1", **metadata: Any) -> ClusterView:
    meta = {"name": "shop", "namespace": "ns", "uid": "u1", "generation": 2, **metadata}
    return msgspec.convert({"metadata": meta, "spec": {"cells": [{"zone": zone}]}}, ClusterView)


def test_the_spec_of_a_generation_is_decoded_once() -> None:
    specs = ClusterSpecs()
    first = specs.decode(cluster(resourceVersion="1"))
    assert specs.decode(cluster(resourceVersion="2")) is first


@pytest.mark.parametrize(
    "changed", [{"generation": 3}, {"uid": "u2"}, {"generation": 0}], ids=["edited", "recreated", "unknown"]
)
def test_another_generation_or_cluster_is_decoded_again(changed: dict[str, Any]) -> None:
    specs = ClusterSpecs()
    specs.decode(cluster(**({"generation": 0} if changed == {"generation": 0} else {})))
    [cell] = specs.decode(cluster("z2", **changed)).cells
    assert cell.zone == "z2"


def test_a_spec_that_cannot_be_read_is_an_error_each_time() -> None:
    specs = ClusterSpecs()
    specs.decode(cluster())
    broken = cluster(7, generation=3)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(msgspec.ValidationError):
            specs.decode(broken)
