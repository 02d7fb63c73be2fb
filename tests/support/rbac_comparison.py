"""Whether the shipped roles hold exactly the rights that a whole run used: no verb missing, none unused.

All stories run the operators under their own service accounts, so the audit log of their control plane tells which
rights they used. It is read when a plane is thrown away, in whichever worker that is; the process that leads the run
puts the parts together after the last test. One right leaves no line in any log: the server asks itself for it when it
admits an owner reference that blocks deletion. A story that shows such a right says so with `shows`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from xdist.workermanage import WorkerController

from steward.install.operators import SHIPPED, TENANTS, Shipped
from steward.install.rbac import access, databases_for_tenants
from steward.install.values import NAMESPACE, Values
from steward.local.service_accounts import user_of
from steward.testkit.audit import audited
from steward.testkit.rbac_coverage import Grant, Use, grants, refusals, unused, uses
from tests.support.paths import ROOT

_SHOWN: Final = "shown right"
_REFUSED: Final = "expected refusal"
_SENT: Final = "rights"
_ACCOUNTS: Final = f'"system:serviceaccount:{NAMESPACE}:'.encode()


@cache
def granted(operator: Shipped) -> tuple[Grant, ...]:
    """What the operator may do as it is shipped, one by one."""
    manifests = access(operator, Values())
    roles = [manifest for manifest in manifests if manifest["kind"] in ("Role", "ClusterRole")]
    return tuple(grants([*roles, databases_for_tenants()] if operator == TENANTS else roles))


def shows(record_property: Callable[[str, object], None], use: Use) -> None:
    """Says that a story has used a right that no audit log tells of."""
    record_property(_SHOWN, list(use))


def is_refused(record_property: Callable[[str, object], None], use: Use) -> None:
    """Says that a story is about this very call, and that nobody shall grant it."""
    record_property(_REFUSED, list(use))


class Record:
    """What was seen of the rights so far, in this process and in those that told it."""

    def __init__(self) -> None:
        self.logs = 0
        self._used: set[Grant] = set()
        self._refused: set[tuple[str, ...]] = set()
        self._expected: set[Use] = set()

    def read(self, directory: Path) -> None:
        """The audit log of a control plane that answers no more calls."""
        logs = sorted(directory.glob("audit*.log"))
        calls = list(audited(line for log in logs for line in _of_operators(log)))
        for operator in SHIPPED:
            own = [call for call in calls if call.user == user_of(operator)]
            self._add(granted(operator), uses(own))
            self._refused |= {
                (operator.name, *use) for use in refusals(own) if not _is_granted(operator, use)
            }
        self.logs += len(logs)

    def hear(self, properties: Iterable[tuple[str, Any]]) -> None:
        """What a test has said with `shows` and `is_refused`."""
        said = list(properties)
        self._expected |= {Use(*value) for name, value in said if name == _REFUSED}
        shown = [Use(*value) for name, value in said if name == _SHOWN]
        self._add((grant for operator in SHIPPED for grant in granted(operator)), shown)

    def _add(self, candidates: Iterable[Grant], used: Iterable[Use]) -> None:
        found = tuple(candidates)
        self._used |= set(found) - set(unused(found, used))

    def told(self) -> dict[str, Any]:
        """Of plain values, as processes send them to each other."""
        return {
            "logs": self.logs,
            "used": [list(grant) for grant in self._used],
            "refused": [list(refused) for refused in self._refused],
        }

    def take_in(self, told: dict[str, Any]) -> None:
        self.logs += told["logs"]
        self._used |= {Grant(*grant) for grant in told["used"]}
        self._refused |= {tuple(refused) for refused in told["refused"]}

    def differences(self) -> list[str]:
        """One sentence each."""
        missing = [
            f"{name} was refused to {Use(*use)}: grant it in install/rbac_rules.py, or do not ask"
            for name, *use in sorted(self._refused)
            if Use(*use) not in self._expected
        ]
        idle = [
            f"{grant} is granted and no test used it: take it out of install/rbac_rules.py, or tell its story"
            for operator in SHIPPED
            for grant in granted(operator)
            if grant not in self._used
        ]
        return missing + idle


def _is_granted(operator: Shipped, use: Use) -> bool:
    """Then it was refused because the roles were new, and the server had not heard of them yet."""
    return any(grant.covers(use) for grant in granted(operator))


def _of_operators(log: Path) -> Iterator[bytes]:
    """Most lines are of others, in hundreds of megabytes: to decode them all would take long at the end of a run."""
    with log.open("rb") as lines:
        yield from (line for line in lines if _ACCOUNTS in line)


class Comparison:
    """Goes along with a run of tests, and fails it when the roles are not right."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.record = Record()
        self._says: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            self.record.hear(report.user_properties)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        told = getattr(node, "workeroutput", {}).get(_SENT)
        if told is not None:
            self.record.take_in(told)

    # Behind the hook of conftest.py, which throws the shared plane away and reads its log.
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_SENT] = self.record.told()
        elif exitstatus == pytest.ExitCode.OK and self.record.logs and is_whole(self._config):
            self._judge(session)

    def _judge(self, session: pytest.Session) -> None:
        self._says = self.record.differences()
        if self._says:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        else:
            count = sum(len(granted(operator)) for operator in SHIPPED)
            self._says = [f"{count} rules of the shipped roles, all used, none missing"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for sentence in self._says:
            terminalreporter.write_line(f"rights: {sentence}")


def is_whole(config: pytest.Config) -> bool:
    """Whether the run leaves no test out."""
    chosen = ("keyword", "markexpr", "deselect", "lf", "ignore", "ignore_glob", "maxfail")
    if any(config.getoption(option, None) for option in chosen):
        return False
    places = {Path(config.invocation_params.dir, argument).resolve() for argument in config.args}
    return places in ({ROOT}, {ROOT / "tests"})
