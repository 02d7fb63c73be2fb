"""Checks that the shipped roles grant exactly the permissions that a full run used: none missing, none unused.

All tests run the operators under their own service accounts, so the audit log of the control plane shows which
permissions they used. A worker reads the log before it deletes a control plane; the main process merges the results
after the last test. One permission is in no log: the API server checks it internally when it admits an owner reference
that blocks deletion. A test that needs it declares that with `record_used_permission`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from steward.install.operators import OPERATORS, TENANTS, ShippedOperator
from steward.install.rbac import databases_for_tenants, operator_roles
from steward.install.values import NAMESPACE, Values
from steward.local.service_accounts import service_account_user
from steward.testkit.audit import read_calls
from steward.testkit.rbac_coverage import Grant, Use, denied_uses, grants, unused_grants, uses
from tests.support.paths import ROOT

_USED: Final = "used permission"
_DENIED: Final = "expected denial"
_SENT: Final = "permissions"
_ACCOUNTS: Final = f'"system:serviceaccount:{NAMESPACE}:'.encode()


@cache
def granted(operator: ShippedOperator) -> tuple[Grant, ...]:
    """The single grants of the shipped roles of an operator."""
    manifests = operator_roles(operator, Values())
    roles = [manifest for manifest in manifests if manifest["kind"] in ("Role", "ClusterRole")]
    return tuple(grants([*roles, databases_for_tenants()] if operator == TENANTS else roles))


def record_used_permission(record_property: Callable[[str, object], None], use: Use) -> None:
    """Declare that a test used a permission that is in no audit log."""
    record_property(_USED, list(use))


def record_expected_denial(record_property: Callable[[str, object], None], use: Use) -> None:
    """Declare that the denial of this call is part of a test, so that it need not be granted."""
    record_property(_DENIED, list(use))


class PermissionRecord:
    """The permissions used so far, in this process and in the workers that it merged."""

    def __init__(self) -> None:
        self.logs = 0
        self._used: set[Grant] = set()
        self._denied: set[tuple[str, ...]] = set()
        self._expected: set[Use] = set()

    def read(self, directory: Path) -> None:
        """Read the audit log of a stopped control plane."""
        logs = sorted(directory.glob("audit*.log"))
        calls = list(read_calls(line for log in logs for line in _operator_lines(log)))
        for operator in OPERATORS:
            own = [call for call in calls if call.user == service_account_user(operator)]
            self._add(granted(operator), uses(own))
            self._denied |= {
                (operator.name, *use) for use in denied_uses(own) if not _is_granted(operator, use)
            }
        self.logs += len(logs)

    def add_properties(self, properties: Iterable[tuple[str, Any]]) -> None:
        """Add what a test declared with `record_used_permission` and `record_expected_denial`."""
        declared = list(properties)
        if not declared:  # as in most tests
            return
        self._expected |= {Use(*value) for name, value in declared if name == _DENIED}
        used = [Use(*value) for name, value in declared if name == _USED]
        self._add((grant for operator in OPERATORS for grant in granted(operator)), used)

    def _add(self, candidates: Iterable[Grant], used: Iterable[Use]) -> None:
        found = tuple(candidates)
        self._used |= set(found) - set(unused_grants(found, used))

    def to_plain(self) -> dict[str, Any]:
        """As plain values, for sending to another process."""
        return {
            "logs": self.logs,
            "used": [list(grant) for grant in self._used],
            "refused": [list(refused) for refused in self._denied],
        }

    def merge(self, other: dict[str, Any]) -> None:
        self.logs += other["logs"]
        self._used |= {Grant(*grant) for grant in other["used"]}
        self._denied |= {tuple(refused) for refused in other["refused"]}

    def differences(self) -> list[str]:
        """Missing and unused permissions, as messages."""
        missing = [
            f"{name} was denied to {Use(*use)}: grant it in install/rbac_rules.py, or do not make the call"
            for name, *use in sorted(self._denied)
            if Use(*use) not in self._expected
        ]
        unnecessary = [
            f"{grant} is granted and no test used it: remove it from install/rbac_rules.py, or test its use"
            for operator in OPERATORS
            for grant in granted(operator)
            if grant not in self._used
        ]
        return missing + unnecessary


def _is_granted(operator: ShippedOperator, use: Use) -> bool:
    """Whether the call was denied only because the API server had not read the new roles yet."""
    return any(grant.covers(use) for grant in granted(operator))


def _operator_lines(log: Path) -> Iterator[bytes]:
    """Only the lines of the operators: decoding all lines, hundreds of megabytes, would take long."""
    with log.open("rb") as lines:
        yield from (line for line in lines if _ACCOUNTS in line)


class RbacComparison:
    """A pytest plugin that fails a run if the roles differ from the used permissions."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.record = PermissionRecord()
        self._messages: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.record.add_properties(report.user_properties)

    @pytest.hookimpl(optionalhook=True)
    def pytest_worker_ended(self, output: dict[str, Any]) -> None:
        if _SENT in output:
            self.record.merge(output[_SENT])

    # After the hook of conftest.py, which stops the shared control plane and reads its log.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_SENT] = self.record.to_plain()
        elif exitstatus == pytest.ExitCode.OK and self.record.logs and is_full_run(self._config):
            self._compare(session)

    def _compare(self, session: pytest.Session) -> None:
        self._messages = self.record.differences()
        if self._messages:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        else:
            count = sum(len(granted(operator)) for operator in OPERATORS)
            self._messages = [f"{count} rules of the shipped roles, all used, none missing"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for message in self._messages:
            terminalreporter.write_line(f"permissions: {message}")


def is_full_run(config: pytest.Config) -> bool:
    """Whether the run selects all tests."""
    chosen = ("keyword", "markexpr", "deselect", "lf", "ignore", "ignore_glob", "maxfail")
    if any(config.getoption(option, None) for option in chosen):
        return False
    paths = {Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    return paths in ({ROOT}, {ROOT / "tests"})
