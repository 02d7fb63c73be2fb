"""The webhooks of an installation: which of them may block a request, and which may not."""

import pytest

from steward.kube.objects.kinds import Manifest
from steward.tenants.webhook_configurations import webhook_configurations

WEBHOOKS = [
    each
    for configuration in webhook_configurations({"url": "https://here"})
    for each in configuration["webhooks"]
]


def ids(webhook: Manifest) -> str:
    return str(webhook["name"])


def test_names_are_unique() -> None:
    assert len({each["name"] for each in WEBHOOKS}) == len(WEBHOOKS)


@pytest.mark.parametrize("webhook", WEBHOOKS, ids=ids)
def test_only_what_can_deny_a_request_can_block_it(webhook: Manifest) -> None:
    [rule] = webhook["rules"]
    is_deletion = rule["operations"] == ["DELETE"]
    assert is_deletion or rule["operations"] == ["CREATE", "UPDATE"]
    assert webhook["failurePolicy"] == ("Ignore" if is_deletion else "Fail")


def test_deletions_of_registries_and_templates_are_reviewed() -> None:
    reviewed = [each["rules"][0] for each in WEBHOOKS if "DELETE" in each["rules"][0]["operations"]]
    assert [rule["resources"] for rule in reviewed] == [["tenantregistries"], ["tenanttemplates"]]
