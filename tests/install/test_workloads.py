"""The Deployments of the operators."""

import pytest

from steward.install.operators import OPERATORS, ShippedOperator
from steward.install.values import OperatorValues, Values
from steward.install.workloads import deployment


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_slow_start_is_not_mistaken_for_a_dead_process(operator: ShippedOperator) -> None:
    """On a busy node it took a minute; the liveness probe alone would have ended it after three quarters of one."""
    [container] = deployment(operator, OperatorValues(), Values())["spec"]["template"]["spec"]["containers"]
    startup = container["startupProbe"]

    assert startup["httpGet"] == container["livenessProbe"]["httpGet"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 180
