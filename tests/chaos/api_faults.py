"""Faults of the API server in a story, as rules of the fault proxy. Pure."""

from steward.testkit import Answer, Delay, Drop, HoldWatch, LoseReply, Match, Rule
from tests.chaos.story import ApiFault

# Without leases: a leader that cannot renew exits, and `Pause` is the action for that.
WRITES = r"^(?!.*/leases(/|\?|$))"
DELAY_SECONDS = 1.0


def rule_for(action: ApiFault) -> Rule | None:
    """The rule; None if the fault needs none."""
    writes = Match(write=True, resource=action.resource, path=WRITES)
    watches = Match(verb="watch", resource=action.resource)
    match action.fault:
        case "conflict":
            return Rule(writes, Answer(409), count=action.count)
        case "throttle":
            return Rule(writes, Answer(429, retry_after=1), count=action.count)
        case "error":
            return Rule(writes, Answer(500), count=action.count)
        case "unavailable":
            return Rule(writes, Answer(503), count=action.count)
        case "drop":
            return Rule(writes, Drop(), count=action.count)
        case "lose-reply":
            return Rule(writes, LoseReply(), count=action.count)
        case "delay":
            return Rule(writes, Delay(DELAY_SECONDS), count=action.count)
        case "list-error":
            return Rule(Match(verb="list", resource=action.resource), Answer(500), count=action.count)
        case "expire-watches":
            return Rule(watches, Answer(410), count=action.count)
        case "hold-watch":
            return Rule(watches, HoldWatch())
        case "cut-watches":
            return None


def cuts_watches(action: ApiFault) -> Match | None:
    """The open watches to close: an answer of 410 reaches a client when it watches again."""
    if action.fault in ("cut-watches", "expire-watches"):
        return Match(verb="watch", resource=action.resource)
    return None
