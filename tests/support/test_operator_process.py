"""An operator that ends during a test fails it at once, with the reason."""

from pathlib import Path

import pytest

from tests.support.operator_process import (
    OperatorProcess,
    fail_if_an_operator_has_ended,
    run_operator_process,
)


def test_a_wait_for_an_operator_that_has_crashed_fails_with_the_end_of_its_log(tmp_path: Path) -> None:
    crashing = ("sh", "-c", "echo no certificate >&2; exit 3")
    operator = OperatorProcess("tenants", tmp_path, "none", tmp_path / "operator.log", launcher=crashing)
    with pytest.raises(pytest.fail.Exception, match="ended with 3; its log ends with:\nno certificate"):
        _wait_for(operator)


def test_after_its_block_an_operator_may_have_ended(tmp_path: Path) -> None:
    ending = ("sh", "-c", "exit 0")
    operator = OperatorProcess("tenants", tmp_path, "none", tmp_path / "operator.log", launcher=ending)
    _wait_for(operator)
    fail_if_an_operator_has_ended()


def _wait_for(operator: OperatorProcess) -> None:
    with run_operator_process(operator) as process:
        process.wait(timeout=60)
        fail_if_an_operator_has_ended()
