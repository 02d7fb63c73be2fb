"""Parts that several views share."""

import pytest

from steward.page.models.structs import condition_lines, cure_command
from tests.page.support import sample_objects as sample

CURES = {
    "Shard a/b has failed: x. To do: read its log: kubectl logs -n shop db-0 --previous.": (
        "kubectl logs -n shop db-0 --previous"
    ),
    "x. To do: correct the table; `steward rows crm -n shop` lists all of them.": "steward rows crm -n shop",
    "x. To do: restore the rows, or approve the deletion: steward hold approve tenantregistry/crm -n shop.": (
        "steward hold approve tenantregistry/crm -n shop"
    ),
    "x. To do: add nodes that fit, or change the zone, the requests or the affinity.": "",
    "x. To do: look at the topology server: steward why toposerver/… -n shop.": "",
    "is ready": "",
}


@pytest.mark.parametrize(("text", "command"), CURES.items())
def test_the_cure_of_a_sentence_is_found_as_a_command(text: str, command: str) -> None:
    assert cure_command(text) == command


def test_the_latest_transition_is_first() -> None:
    old = {**sample.condition("Ready", "True"), "lastTransitionTime": "2027-01-01T00:00:00Z"}
    new = {**sample.condition("Degraded", "False"), "lastTransitionTime": "2027-01-02T00:00:00Z"}
    assert [line.type for line in condition_lines({"conditions": [old, new]}, 0)] == ["Degraded", "Ready"]


def test_an_object_without_a_status_has_no_conditions() -> None:
    assert condition_lines({}, 0) == []
