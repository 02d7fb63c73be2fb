"""Alerts as they are installed."""

import pytest

from steward.install.monitoring import alerts
from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.values import Monitoring, Values
from tests.support.paths import ROOT


def runbooks(operator: ShippedOperator, base: str) -> list[str]:
    found = alerts(operator, Values(monitoring=Monitoring(alerts=True, runbook_base_url=base)))
    rules = [rule for group in found["spec"]["groups"] for rule in group["rules"]]
    return [rule["annotations"]["runbook_url"] for rule in rules if "alert" in rule]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_every_alert_links_to_a_runbook_below_the_given_address(operator: ShippedOperator) -> None:
    files = runbooks(operator, "")
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []
    for base in ("https://git.example.com/steward", "https://git.example.com/steward/"):
        assert runbooks(operator, base) == [f"https://git.example.com/steward/{name}" for name in files]
