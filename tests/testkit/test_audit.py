import asyncio

import msgspec
import pytest

from steward.testkit import AuditLog, MarkerNotLoggedError, Match, audit
from steward.testkit.audit import read_calls


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


def test_a_call_is_counted_once_for_all_its_stages():
    lines = [line("patch", "RequestReceived"), line("patch")]
    assert [item.call.verb for item in read_calls(lines)] == ["patch"]


def test_a_watch_is_counted_when_its_stream_begins_and_not_again_when_it_ends():
    started, ended = line("watch", "ResponseStarted", id="w"), line("watch", id="w")
    assert len(list(read_calls([started]))) == 1
    assert len(list(read_calls([started, ended]))) == 1


def test_a_dry_run_is_no_write():
    dry = line("patch", uri="/apis/apps/v1/namespaces/a/deployments/web?dryRun=All&force=true")
    (item,) = read_calls([dry])
    assert item.call.dry_run
    assert not item.call.is_write


def test_calls_are_counted_by_verb_resource_and_agent():
    calls = audit.AuditedCalls(
        tuple(
            read_calls(
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
    assert len(calls.with_codes(200)) == 5
    assert not calls.with_codes(409)


@pytest.fixture
def log(fake_api_server):
    path = fake_api_server.directory / "audit.log"
    path.write_bytes(b"")
    return path


async def write_markers(fake_api_server, proxied_log):
    """Write the audit log of the fake API server: a line for each answered call."""
    done = 0
    while True:
        for agent in fake_api_server.agents[done:]:
            with proxied_log().open("ab") as file:
                file.write(line("get", agent=agent) + b"\n")
            done += 1
        await asyncio.sleep(0.001)


@pytest.fixture
async def logged(fake_api_server, log):
    task = asyncio.create_task(write_markers(fake_api_server, lambda: log))
    yield AuditLog(log, fake_api_server.kubeconfig)
    task.cancel()


async def test_only_calls_since_the_mark_are_counted(logged, log):
    with log.open("ab") as file:
        file.write(line("delete") + b"\n")
    mark = await logged.mark()
    with log.open("ab") as file:
        file.write(line("patch") + b"\n")
    assert [item.call.verb for item in await logged.calls_since(mark)] == ["patch"]


async def test_reading_continues_after_a_rotation(logged, log):
    mark = await logged.mark()
    with log.open("ab") as file:
        file.write(line("patch") + b"\n")
    log.rename(log.with_name("audit-2026-01-01.log"))
    log.write_bytes(line("delete") + b"\n")
    assert [item.call.verb for item in await logged.calls_since(mark)] == ["patch", "delete"]


async def test_a_log_without_the_marker_is_an_error_with_the_cure(fake_api_server, log, monkeypatch):
    monkeypatch.setattr(audit, "MARKER_TIMEOUT", 0.05)
    with pytest.raises(MarkerNotLoggedError, match="does the audit policy log gets of namespaces"):
        await AuditLog(log, fake_api_server.kubeconfig).mark()


def test_a_call_has_its_impersonated_user_and_the_rbac_decision():
    denied = msgspec.json.decode(line("get"))
    denied["impersonatedUser"] = {"username": "anna"}
    denied["annotations"] = {"authorization.k8s.io/decision": "forbid", "other": "x"}
    allowed = {**denied, "annotations": {"authorization.k8s.io/decision": "allow"}}
    calls = read_calls([msgspec.json.encode(entry) for entry in (denied, allowed)])
    assert [(item.user, item.acting_as, item.is_allowed) for item in calls] == [
        ("admin", "anna", False),
        ("admin", "anna", True),
    ]
