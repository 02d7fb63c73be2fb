"""Test tools for controllers: a fake clock, a fault proxy, an audit log reader, and crash points.

from steward.testkit import Answer, AuditLog, FakeClock, FaultProxy, Match, Rule
"""

from steward.testkit.audit import AuditedCall, AuditedCalls, AuditLog, LogPosition, MarkerNotLoggedError
from steward.testkit.clock import FakeClock, let_others_run
from steward.testkit.crash_process import CrashPoint, CrashTiming, kill, kill_at_write, start_process
from steward.testkit.proxy.control import RemoteProxy
from steward.testkit.proxy.faults import (
    Answer,
    Cut,
    CutWatch,
    Delay,
    DelayEvents,
    Drop,
    Hold,
    HoldReply,
    HoldWatch,
    InsertLine,
    LoseEvents,
    LoseReply,
    Match,
    RepeatEvents,
    Rule,
    gone_event,
)
from steward.testkit.proxy.forward import RecordedCall
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.rules import ActiveRule
from steward.testkit.proxy.server import FaultProxy

__all__ = [
    "ActiveRule",
    "Answer",
    "AuditLog",
    "AuditedCall",
    "AuditedCalls",
    "Call",
    "CrashPoint",
    "CrashTiming",
    "Cut",
    "CutWatch",
    "Delay",
    "DelayEvents",
    "Drop",
    "FakeClock",
    "FaultProxy",
    "Hold",
    "HoldReply",
    "HoldWatch",
    "InsertLine",
    "LogPosition",
    "LoseEvents",
    "LoseReply",
    "MarkerNotLoggedError",
    "Match",
    "RecordedCall",
    "RemoteProxy",
    "RepeatEvents",
    "Rule",
    "gone_event",
    "kill",
    "kill_at_write",
    "let_others_run",
    "start_process",
]
