"""How the parts of a run are put together to one comparison of the shipped roles with what was used."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from steward.install.operators import MULTIGRES, SHIPPED, TENANTS
from steward.local.service_accounts import user_of
from steward.testkit.rbac_coverage import Grant, Use
from tests.support import rbac_comparison
from tests.support.rbac_comparison import ROOT, Record, granted, is_refused, is_whole, shows


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


def everything() -> list[bytes]:
    """A log in which every right was used by whoever has it."""
    lines = [
        logged(grant, user_of(operator))
        for operator in SHIPPED
        for grant in granted(operator)
        if grant.verb != "impersonate"
    ]
    as_another = {"impersonatedUser": {"username": "system:serviceaccount:a:web"}}
    return [*lines, logged(Grant("", "get", "", "pods"), user_of(TENANTS), **as_another)]


def read(directory: Path, lines: list[bytes]) -> Record:
    (directory / "audit.log").write_bytes(b"\n".join(lines) + b"\n")
    record = Record()
    record.read(directory)
    return record


def test_rights_that_were_all_used_differ_in_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, everything()).differences() == []


def test_an_unused_right_is_named_with_its_role_and_the_cure(tmp_path: Path) -> None:
    (sentence,) = read(
        tmp_path, [line for line in everything() if b'"verb":"impersonate"' not in line][:-1]
    ).differences()
    assert sentence.startswith("tenant-operator: impersonate serviceaccounts is granted and no test used it")


def test_a_refused_call_is_named_unless_a_story_is_about_it(tmp_path: Path) -> None:
    denied = Grant("", "get", "", "nodes", "", "n1")
    record = read(tmp_path, [*everything(), logged(denied, user_of(MULTIGRES), 403)])
    assert record.differences() == [
        "multigres-operator was refused to get nodes n1: grant it in install/rbac_rules.py, or do not ask"
    ]
    said: list[tuple[str, object]] = []
    is_refused(lambda name, value: said.append((name, value)), Use("get", "", "nodes", "", "n1"))
    record.hear(said)
    assert record.differences() == []


def test_what_is_granted_and_was_refused_came_before_the_roles(tmp_path: Path) -> None:
    early = Grant("", "list", "", "nodes")
    assert read(tmp_path, [logged(early, user_of(MULTIGRES), 403), *everything()]).differences() == []


def test_calls_of_others_use_nothing(tmp_path: Path) -> None:
    lines = [line.replace(b"steward-system:", b"elsewhere:") for line in everything()]
    assert len(read(tmp_path, lines).differences()) == sum(len(granted(operator)) for operator in SHIPPED)


def test_a_right_that_no_log_tells_of_is_shown_by_a_story(tmp_path: Path) -> None:
    lines = [line for line in everything() if b'"subresource":"finalizers"' not in line]
    record = read(tmp_path, lines)
    unseen = [grant for grant in granted(MULTIGRES) if grant.resource.endswith("/finalizers")]
    assert len(record.differences()) == len(unseen) > 0
    said: list[tuple[str, object]] = []
    for grant in unseen:
        shows(lambda name, value: said.append((name, value)), Use(grant.verb, grant.group, grant.resource))
    record.hear(said)
    assert record.differences() == []


def test_what_workers_tell_is_put_together(tmp_path: Path) -> None:
    whole, lines = Record(), everything()
    for number, part in enumerate((lines[::2], lines[1::2])):
        directory = tmp_path / str(number)
        directory.mkdir()
        # Through what xdist can send.
        whole.take_in(msgspec.json.decode(msgspec.json.encode(read(directory, part).told())))
    assert (whole.logs, whole.differences()) == (2, [])


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
def test_a_run_is_whole_that_leaves_nothing_out(
    args: list[str], options: dict[str, Any], expected: bool
) -> None:
    config: Any = SimpleNamespace(
        args=args,
        invocation_params=SimpleNamespace(dir=ROOT),
        getoption=options.get,
    )
    assert is_whole(config) is expected


class Told:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def judged(record: Record, monkeypatch: pytest.MonkeyPatch, passed: bool = True) -> tuple[int, list[str]]:
    """How a whole run ends that has recorded this, and what it says."""
    monkeypatch.setattr(rbac_comparison, "is_whole", lambda config: True)
    config: Any = SimpleNamespace()
    comparison, told = rbac_comparison.Comparison(config), Told()
    comparison.record = record
    session: Any = SimpleNamespace(exitstatus=0 if passed else 1)
    comparison.pytest_sessionfinish(session, session.exitstatus)
    comparison.pytest_terminal_summary(told)  # type: ignore[arg-type]
    return int(session.exitstatus), told.lines


def test_a_run_in_which_all_rights_were_used_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = sum(len(granted(operator)) for operator in SHIPPED)
    told = f"rights: {count} rules of the shipped roles, all used, none missing"
    assert judged(read(tmp_path, everything()), monkeypatch) == (0, [told])


def test_a_difference_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, lines = judged(read(tmp_path, everything()[:-1]), monkeypatch)
    assert code == 1
    assert len(lines) == 1


def test_a_run_that_failed_or_had_no_plane_of_its_own_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(read(tmp_path, everything()[:-1]), monkeypatch, passed=False) == (1, [])
    assert judged(Record(), monkeypatch) == (0, [])
