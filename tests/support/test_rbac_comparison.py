"""The comparison of the shipped roles with the permissions that a run used."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.install.operators import MULTIGRES, OPERATORS, TENANTS
from steward.local.service_accounts import service_account_user
from steward.testkit.rbac_coverage import Grant, Use
from tests.support import rbac_comparison
from tests.support.rbac_comparison import (
    ROOT,
    PermissionRecord,
    granted,
    is_full_run,
    record_expected_denial,
    record_used_permission,
)


def logged(grant: Grant, user: str, code: int = 200, **more: Any) -> bytes:
    resource, _, subresource = grant.resource.partition("/")
    where = {"namespace": grant.namespace, "name": grant.name or "some", "apiGroup": grant.group}
    line = {
        "auditID": "1",
        "stage": "ResponseComplete",
        "verb": grant.verb,
        "user": {"username": user},
        "objectRef": {"resource": resource, "subresource": subresource, **where},
        "responseStatus": {"code": code},
        "annotations": {"authorization.k8s.io/decision": "forbid" if code == 403 else "allow"},
        **more,
    }
    return msgspec.json.encode(line)


def log_of_all_permissions() -> list[bytes]:
    """A log in which every permission was used by its operator."""
    return [
        logged(grant, service_account_user(operator)) for operator in OPERATORS for grant in granted(operator)
    ]


def read(directory: Path, lines: list[bytes]) -> PermissionRecord:
    (directory / "audit.log").write_bytes(b"\n".join(lines) + b"\n")
    record = PermissionRecord()
    record.read(directory)
    return record


def test_if_all_permissions_were_used_there_is_no_difference(tmp_path: Path) -> None:
    assert read(tmp_path, log_of_all_permissions()).differences() == []


def test_an_unused_permission_is_named_with_its_role(tmp_path: Path) -> None:
    (message,) = read(tmp_path, log_of_all_permissions()[:-1]).differences()
    assert message.startswith(f"{granted(TENANTS)[-1]} is granted and no test used it")
    assert message.startswith("tenant-operator")


def test_a_denied_call_is_named_unless_a_test_expects_it(tmp_path: Path) -> None:
    denied = Grant("", "get", "", "nodes", "", "n1")
    record = read(tmp_path, [*log_of_all_permissions(), logged(denied, service_account_user(MULTIGRES), 403)])
    assert record.differences() == [
        "multigres-operator was denied to get nodes n1: grant it in install/rbac_rules.py, or do not make the call"
    ]
    properties: list[tuple[str, object]] = []
    record_expected_denial(
        lambda name, value: properties.append((name, value)), Use("get", "", "nodes", "", "n1")
    )
    record.add_properties(properties)
    assert record.differences() == []


def test_a_granted_call_that_was_denied_before_the_roles_existed_is_ignored(tmp_path: Path) -> None:
    early = Grant("", "list", "", "nodes")
    assert (
        read(
            tmp_path, [logged(early, service_account_user(MULTIGRES), 403), *log_of_all_permissions()]
        ).differences()
        == []
    )


def test_calls_of_other_users_are_ignored(tmp_path: Path) -> None:
    lines = [line.replace(b"steward-system:", b"elsewhere:") for line in log_of_all_permissions()]
    assert len(read(tmp_path, lines).differences()) == sum(len(granted(operator)) for operator in OPERATORS)


def test_a_permission_that_is_in_no_log_is_declared_by_a_test(tmp_path: Path) -> None:
    lines = [line for line in log_of_all_permissions() if b'"subresource":"finalizers"' not in line]
    record = read(tmp_path, lines)
    unseen = [grant for grant in granted(MULTIGRES) if grant.resource.endswith("/finalizers")]
    assert len(record.differences()) == len(unseen) > 0
    properties: list[tuple[str, object]] = []
    for grant in unseen:
        record_used_permission(
            lambda name, value: properties.append((name, value)), Use(grant.verb, grant.group, grant.resource)
        )
    record.add_properties(properties)
    assert record.differences() == []


def test_records_of_workers_are_merged(tmp_path: Path) -> None:
    merged, lines = PermissionRecord(), log_of_all_permissions()
    for number, part in enumerate((lines[::2], lines[1::2])):
        directory = tmp_path / str(number)
        directory.mkdir()
        # As a worker sends it.
        merged.merge(msgspec.json.decode(msgspec.json.encode(read(directory, part).to_plain())))
    assert (merged.logs, merged.differences()) == (2, [])


@pytest.mark.parametrize(
    ("args", "options", "expected"),
    [
        (["tests"], {}, True),
        (["."], {}, True),
        (["tests/kube"], {}, False),
        (["tests", "docs"], {}, False),
        (["tests"], {"keyword": "watch"}, False),
        (["tests"], {"maxfail": 1}, False),
        (["tests"], {"deselect": ["tests/kube"]}, False),
    ],
)
def test_a_full_run_selects_all_tests(args: list[str], options: dict[str, Any], expected: bool) -> None:
    config: Any = SimpleNamespace(
        args=args,
        invocation_params=SimpleNamespace(dir=ROOT),
        getoption=options.get,
    )
    assert is_full_run(config) is expected


class RecordedOutput:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def compared_run(
    record: PermissionRecord, monkeypatch: pytest.MonkeyPatch, passed: bool = True
) -> tuple[int, list[str]]:
    """The exit status and the messages of a full run with this record."""
    monkeypatch.setattr(rbac_comparison, "is_full_run", lambda config: True)
    config: Any = SimpleNamespace()
    comparison, output = rbac_comparison.RbacComparison(config), RecordedOutput()
    comparison.record = record
    session: Any = SimpleNamespace(exitstatus=0 if passed else 1)
    comparison.pytest_sessionfinish(session, session.exitstatus)
    comparison.pytest_terminal_summary(output)  # type: ignore[arg-type]
    return int(session.exitstatus), output.lines


def test_a_run_that_used_all_permissions_reports_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = sum(len(granted(operator)) for operator in OPERATORS)
    expected = f"permissions: {count} rules of the shipped roles, all used, none missing"
    assert compared_run(read(tmp_path, log_of_all_permissions()), monkeypatch) == (0, [expected])


def test_a_difference_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, lines = compared_run(read(tmp_path, log_of_all_permissions()[:-1]), monkeypatch)
    assert code == 1
    assert len(lines) == 1


def test_a_failed_run_or_one_without_its_own_control_plane_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compared_run(read(tmp_path, log_of_all_permissions()[:-1]), monkeypatch, passed=False) == (1, [])
    assert compared_run(PermissionRecord(), monkeypatch) == (0, [])
