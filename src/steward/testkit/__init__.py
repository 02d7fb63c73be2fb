"""What users of the engine test with: a clock that stands still, a fault proxy, an audit-log reader, crashes.

from steward.testkit import Answer, AuditLog, FakeClock, FaultProxy, Match, Rule
"""

from steward.testkit.audit import Audited, AuditLog, AuditSilentError, Calls, Mark
from steward.testkit.calls import Call
from steward.testkit.clock import FakeClock, let_others_run
from steward.testkit.control import RemoteProxy
from steward.testkit.crash import Moment, WriteMoment, kill, kill_at_write, start_process
from steward.testkit.faults import (
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
from steward.testkit.forward import Seen
from steward.testkit.proxy import FaultProxy
from steward.testkit.rules import Entry

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
