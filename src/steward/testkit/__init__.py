"""What users of the engine test with: a clock that stands still, a fault proxy, an audit-log reader, crashes.

from steward.testkit import Answer, AuditLog, FakeClock, FaultProxy, Match, Rule
"""

from steward.testkit.audit import Audited, AuditLog, AuditSilentError, Calls, Mark
from steward.testkit.clock import FakeClock, let_others_run
from steward.testkit.crash_process import Moment, WriteMoment, kill, kill_at_write, start_process
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
from steward.testkit.proxy.forward import Seen
from steward.testkit.proxy.requests import Call
from steward.testkit.proxy.rules import Entry
from steward.testkit.proxy.server import FaultProxy

__all__ = [
    "Answer",
    "AuditLog",
    "AuditSilentError",
    "Audited",
    "Call",
    "Calls",
    "Cut",
    "CutWatch",
    "Delay",
    "DelayEvents",
    "Drop",
    "Entry",
    "FakeClock",
    "FaultProxy",
    "Hold",
    "HoldReply",
    "HoldWatch",
    "InsertLine",
    "LoseEvents",
    "LoseReply",
    "Mark",
    "Match",
    "Moment",
    "RemoteProxy",
    "RepeatEvents",
    "Rule",
    "Seen",
    "WriteMoment",
    "gone_event",
    "kill",
    "kill_at_write",
    "let_others_run",
    "start_process",
]
