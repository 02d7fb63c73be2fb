import asyncio

import msgspec
import pytest

from steward.testkit import AuditLog, AuditSilentError, Match, audit
from steward.testkit.audit import audited


def line(verb, stage="ResponseComplete", **more):
    fields = {
        "auditID": more.pop("id", "1"),
        "stage": stage,
        "verb": verb,
        "requestURI": more.pop("uri", "/apis/apps/v1/namespaces/a/deployments/web"),
        "userAgent": more.pop("agent", "controller/1"),
        "user": {"username": "admin", "groups": ["system:masters"]},
        "objectRef": {"resource": "deployments", "namespace": "a", "name": "web", "apiGroup": "apps", **more},
        "responseStatus": {"metadata": {}, "code": 200},
    }
    return msgspec.json.encode(fields)


def test_a_call_is_counted_once_whatever_stages_it_has():
    lines = [line("patch", "RequestReceived"), line("patch")]
    assert [item.call.verb for item in audited(lines)] == ["patch"]


def test_a_watch_is_counted_when_its_stream_begins_and_not_again_when_it_ends():
    started, ended = line("watch", "ResponseStarted", id="w"), line("watch", id="w")
    assert len(list(audited([started]))) == 1
    assert len(list(audited([started, ended]))) == 1


def test_a_dry_run_is_no_write():
    dry = line("patch", uri="/apis/apps/v1/namespaces/a/deployments/web?dryRun=All&force=true")
    (item,) = audited([dry])
    assert item.call.dry_run
    assert not item.call.is_write


def test_calls_are_counted_by_verb_resource_and_agent():
    calls = audit.Calls(
        tuple(
            audited(
                [
                    line("patch"),
                    line("patch", subresource="status"),
                    line("get"),
                    line("patch", agent="other/2"),
                    line("create", resource="tokenreviews"),
                ]
            )
        )
    )
    assert calls.tally() == {
        ("patch", "deployments", "controller/1"): 1,
        ("patch", "deployments/status", "controller/1"): 1,
        ("get", "deployments", "controller/1"): 1,
        ("patch", "deployments", "other/2"): 1,
        ("create", "tokenreviews", "controller/1"): 1,
    }
    assert len(calls.writes_of("controller")) == 2
    assert len(calls.writes()) == 3
    assert len(calls.matching(Match(subresource="status"))) == 1
    assert len(calls.answered(200)) == 5
    assert not calls.answered(409)


@pytest.fixture
def log(stand_in):
    path = stand_in.directory / "audit.log"
    path.write_bytes(b"")
    return path


async def write_markers(stand_in, proxied_log):
    """Play the API server: log a call of the stand-in as soon as it was answered."""
    done = 0
    while True:
        for agent in stand_in.agents[done:]:
            with proxied_log().open("ab") as file:
                file.write(line("get", agent=agent) + b"\n")
            done += 1
        await asyncio.sleep(0.001)


@pytest.fixture
async def logged(stand_in, log):
    task = asyncio.create_task(write_markers(stand_in, lambda: log))
    yield AuditLog(log, stand_in.kubeconfig)
    task.cancel()


async def test_only_what_came_since_the_mark_is_counted(logged, log):
    with log.open("ab") as file:
        file.write(line("delete") + b"\n")
    mark = await logged.mark()
    with log.open("ab") as file:
        file.write(line("patch") + b"\n")
    assert [item.call.verb for item in await logged.calls_since(mark)] == ["patch"]


async def test_a_rotated_log_is_read_on(logged, log):
    mark = await logged.mark()
    with log.open("ab") as file:
        file.write(line("patch") + b"\n")
    log.rename(log.with_name("audit-2026-01-01.log"))
    log.write_bytes(line("delete") + b"\n")
    assert [item.call.verb for item in await logged.calls_since(mark)] == ["patch", "delete"]


async def test_a_log_that_stays_silent_is_an_error_with_the_cure(stand_in, log, monkeypatch):
    monkeypatch.setattr(audit, "PATIENCE", 0.05)
    with pytest.raises(AuditSilentError, match="does the audit policy log gets of namespaces"):
        await AuditLog(log, stand_in.kubeconfig).mark()


def test_a_call_tells_in_whose_place_it_was_made_and_whether_it_was_allowed():
    denied = msgspec.json.decode(line("get"))
    denied["impersonatedUser"] = {"username": "anna"}
    denied["annotations"] = {"authorization.k8s.io/decision": "forbid", "other": "x"}
    allowed = {**denied, "annotations": {"authorization.k8s.io/decision": "allow"}}
    told = audited([msgspec.json.encode(each) for each in (denied, allowed)])
    assert [(each.user, each.acting_as, each.is_allowed) for each in told] == [
        ("admin", "anna", False),
        ("admin", "anna", True),
    ]
