"""Which content of each template is in force for a cluster, and when a newer one takes its place. Pure.

A cluster stands on contents that were written down, never on templates as they happen to be: an edit of the cluster
takes effect on the contents in force and smuggles nothing in. A template that the cluster did not use before is taken
as it is, since choosing it is an edit of the cluster; one that it used before and turns back to is taken as it was when
the cluster left it, so that an edit which is taken back leaves no trace. A newer content is taken when the policy says
so and the cluster can be carried out with it; one that would break the cluster is refused, whatever the policy, and
what was in force stays. A content that the cluster went back from is taken again only on request.
"""

import datetime
from collections.abc import Mapping
from typing import NamedTuple

from steward.multigres import reasons
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import Problem
from steward.multigres.resolution.template_refs import mentioned
from steward.multigres.resolution.validation import validate_update
from steward.multigres.template_updates.candidate import (
    AUTO,
    WINDOW,
    Attempt,
    Contents,
    Situation,
    attempt,
    told,
    used_templates,
)
from steward.multigres.template_updates.notices import (
    APPLY_NOW,
    News,
    Notice,
    Waiting,
    notice,
    revision_of,
    step,
)
from steward.multigres.template_updates.revisions import (
    Content,
    Record,
    Revision,
    TemplateKey,
    in_force,
    next_number,
    surplus,
)

ROLL_BACK = "multigres.com/rollback-template-update"


class Decision(NamedTuple):
    attempt: Attempt
    lost: tuple[TemplateKey, ...]
    records: tuple[Record, ...]
    surplus: tuple[Revision, ...]
    consumed: tuple[str, ...]
    news: tuple[News, ...]
    notice: Notice
    applied: Mapping[str, int]
    available: str
    next_window: datetime.datetime | None


def decide(at: Situation) -> Decision:
    return _Deciding(at).decision()


class _Deciding:
    """One decision in the making."""

    def __init__(self, at: Situation) -> None:
        self.at = at
        self.in_force = in_force(known for known in at.revisions if self._counts(known))
        self.news: list[News] = []
        self.attempts: dict[frozenset[tuple[TemplateKey, str, int]], Attempt] = {}
        self.named = mentioned(at.spec)

    def decision(self) -> Decision:
        base = self._base()
        self.before = self._attempt(base)
        pending = self._pending(base)
        self.available = revision_of(pending) if pending else ""
        unchanged = {key: new for key, new in pending.items() if self._says_the_same(base, key, new)}
        due = {key: new for key, new in pending.items() if key in unchanged or self._is_due(key, new)}
        taken, refusal = self._takeable(base, due)
        self._tell(base, taken, refusal, unchanged)
        contents = {**base, **taken}
        waiting = {key: new for key, new in pending.items() if key not in taken}
        behind = [key for key, new in waiting.items() if self._went_back_from(key, new)]
        return self._decided(contents, Waiting(contents, waiting, behind, refusal))

    def _decided(self, contents: Contents, waiting: Waiting) -> Decision:
        at, final = self.at, self._attempt(contents)
        used = [key for key in used_templates(final.resolved) if key in contents]
        lost = tuple(key for key in used if self._is_lost(key))
        is_sound = not final.problems and not lost
        records = self._records(contents, used) if is_sound else ()
        return Decision(
            attempt=final,
            lost=lost,
            records=records,
            surplus=tuple(surplus(at.revisions, used, at.live, records)) if is_sound else (),
            consumed=tuple(name for name in (ROLL_BACK, APPLY_NOW) if is_sound and self._is_asked(name)),
            news=tuple(self.news),
            notice=notice(at, waiting),
            applied={str(key): contents[key].generation for key in sorted(used) if key not in lost},
            available=revision_of(waiting.newer) if waiting.newer else "",
            next_window=at.next_window,
        )

    # What is in force

    def _counts(self, known: Revision) -> bool:
        """What a template said that the cluster left counts as long as that template is there."""
        is_left = self.at.reported is not None and str(known.template) not in self.at.reported
        return not is_left or known.is_of(self.at.live.get(known.template))

    def _base(self) -> dict[TemplateKey, Content]:
        """The contents in force, those of templates that this cluster has only now chosen among them."""
        contents = {key: known.content for key, known in self.in_force.items()}
        for key, new in self.at.live.items():
            if key not in contents and not self._is_held_back(key):
                contents[key] = new
        return {**contents, **self._rolled_back(contents)}

    def _is_held_back(self, key: TemplateKey) -> bool:
        """A template called `default` that appears beside a settled cluster is a change of templates, too."""
        is_implied = key.name == defaults.DEFAULT_TEMPLATE and key not in self.named
        return is_implied and self.at.reported is not None and str(key) not in self.at.reported

    def _is_lost(self, key: TemplateKey) -> bool:
        """Somebody deleted the revision, and the template has moved on: what was in force cannot be known."""
        reported = (self.at.reported or {}).get(str(key))
        if key in self.in_force or reported is None or self.at.mode == AUTO or self._is_asked(APPLY_NOW):
            return False
        now = self.at.live.get(key)
        return now is None or now.generation != reported

    def _rolled_back(self, contents: Contents) -> dict[TemplateKey, Content]:
        if not self._is_asked(ROLL_BACK):
            return {}
        name, used = self.at.annotations[ROLL_BACK], used_templates(self._attempt(contents).resolved)
        known = [each for each in self.at.revisions if each.template in used]
        found = next((each for each in known if each.name == name), None)
        if found is None:
            names = ", ".join(sorted(each.name for each in known)) or "none"
            self._note(reasons.NO_SUCH_REVISION, f"no revision {name!r} is kept; there are: {names}")
            return {}
        back, what = {found.template: found.content}, found.template.told
        problems = self._problems(self._attempt(contents), {**contents, **back})
        if problems:
            self._note(reasons.UPDATE_REFUSED, f"{what} cannot go back to {name}: {told(problems)}")
            return {}
        if self.in_force[found.template] != found:
            self._note(reasons.ROLLED_BACK, f"{what} is back at generation {found.content.generation}")
        return back

    def _note(self, reason: str, message: str) -> None:
        self.news.append(News(reason, message))

    def _records(self, contents: Contents, used: list[TemplateKey]) -> tuple[Record, ...]:
        return tuple(
            Record(key, contents[key], next_number(self.at.revisions, key))
            for key in sorted(used)
            if not contents[key].is_version(self._content_in_force(key))
        )

    def _content_in_force(self, key: TemplateKey) -> Content | None:
        known = self.in_force.get(key)
        return None if known is None else known.content

    # What is newer

    def _pending(self, base: Contents) -> dict[TemplateKey, Content]:
        latest = {**base, **self.at.live}
        used = {*used_templates(self.before.resolved), *used_templates(self._attempt(latest).resolved)}
        return {
            key: self.at.live[key]
            for key in sorted(used)
            if key in self.at.live and not self.at.live[key].is_version(base.get(key))
        }

    def _says_the_same(self, base: Contents, key: TemplateKey, new: Content) -> bool:
        known = base.get(key)
        return known is not None and known.spec == new.spec

    def _is_due(self, key: TemplateKey, new: Content) -> bool:
        at = self.at
        if self._is_asked(APPLY_NOW):
            return True
        if self._went_back_from(key, new):
            return False
        if at.mode == AUTO or at.policy.accepted_revision == self.available:
            return True
        return at.mode == WINDOW and at.window_is_open

    def _went_back_from(self, key: TemplateKey, new: Content) -> bool:
        if self._is_asked(ROLL_BACK):
            return True
        return any(known.template == key and new.is_version(known.content) for known in self.at.revisions)

    def _is_asked(self, annotation: str) -> bool:
        value = self.at.annotations.get(annotation, "")
        return value == "true" if annotation == APPLY_NOW else bool(value)

    # What can be taken

    def _attempt(self, contents: Contents) -> Attempt:
        """Once for each set of contents: on an idle cluster they are all the same."""
        versions = frozenset((key, content.uid, content.generation) for key, content in contents.items())
        if versions not in self.attempts:
            self.attempts[versions] = attempt(self.at, contents)
        return self.attempts[versions]

    def _problems(self, before: Attempt, contents: Contents) -> list[Problem]:
        """Also what a running cluster cannot change: a template can ask for that as well as a spec."""
        after = self._attempt(contents)
        changes = [] if before.problems else validate_update(before.resolved, after.resolved)
        return [*after.problems, *changes]

    def _takeable(self, base: Contents, due: Contents) -> tuple[Contents, str]:
        """All that is due or, where that would break the cluster, as much of it as does not."""
        if not due or not self._problems(self.before, {**base, **due}):
            return due, ""
        taken: dict[TemplateKey, Content] = {}
        refused: list[str] = []
        for key, new in due.items():
            problems = self._problems(self.before, {**base, **taken, key: new})
            if problems:
                refused.append(f"{key.told} at generation {new.generation} cannot be used: {told(problems)}")
            else:
                taken[key] = new
        return taken, "; ".join(refused)

    # What is told

    def _tell(self, base: Contents, taken: Contents, refusal: str, silent: Contents) -> None:
        now = [f"{key.told} ({step(base.get(key), new)})" for key, new in taken.items() if key not in silent]
        if now:
            self._note(reasons.UPDATE_APPLIED, f"now in force: {', '.join(now)}")
        if refusal and self._is_asked(APPLY_NOW):
            self._note(reasons.UPDATE_REFUSED, refusal)
