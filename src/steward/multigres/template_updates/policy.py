"""Decides which content of each template is active for a cluster and when a newer one becomes active. Pure.

A cluster is resolved on recorded contents, never on live templates: an edit of the cluster must not apply changes of
templates with it.

- A template that the cluster references for the first time becomes active as it is: referencing it is an edit of the
  cluster. One that the cluster used before is active again as it was, so that reverting an edit restores the old state.
- A newer content becomes active when the update policy allows it and the cluster is valid with it. One that would make
  the cluster invalid is rejected under every policy, and the active content stays.
- A content that the cluster was rolled back from becomes active again only on request.
"""

import datetime
from collections.abc import Mapping
from typing import NamedTuple

from steward.multigres import reasons
from steward.multigres.resolution import defaults
from steward.multigres.resolution.resolved import SpecProblem
from steward.multigres.resolution.template_refs import TemplateKey, referenced_templates
from steward.multigres.resolution.validation import validate_update
from steward.multigres.template_updates.candidate import (
    AUTO,
    WINDOW,
    Candidate,
    TemplateContents,
    UpdateInputs,
    describe_problems,
    resolve_candidate,
    used_templates,
)
from steward.multigres.template_updates.notices import (
    APPLY_NOW,
    PendingUpdate,
    UpdateEvent,
    UpdateNotice,
    describe_generations,
    pending_revision,
    update_notice,
)
from steward.multigres.template_updates.revisions import (
    NewRevision,
    TemplateContent,
    TemplateRevision,
    active_revisions,
    next_number,
    revisions_to_prune,
)

ROLL_BACK = "multigres.com/rollback-template-update"


class UpdateDecision(NamedTuple):
    """The cluster on the active contents, and what to write: new revisions, events and status fields.

    `lost` are templates whose active content is no longer known. `records` are revisions to write, `to_prune` those to
    delete.
    """

    inputs: UpdateInputs
    candidate: Candidate
    lost: tuple[TemplateKey, ...]
    records: tuple[NewRevision, ...]
    to_prune: tuple[TemplateRevision, ...]
    consumed_annotations: tuple[str, ...]
    events: tuple[UpdateEvent, ...]
    notice: UpdateNotice
    applied_generations: Mapping[str, int]
    available_revision: str
    next_window: datetime.datetime | None
    accepts_objects: bool = False
    """Whether the user accepted the pending version of the pods."""


def decide_update(inputs: UpdateInputs, previous: Candidate | None = None) -> UpdateDecision:
    """`previous` is the candidate of an earlier decision about this cluster, for `resolve_candidate`."""
    return _DecisionBuilder(inputs, previous).decision()


class _DecisionBuilder:
    """State of one decision."""

    def __init__(self, inputs: UpdateInputs, previous: Candidate | None) -> None:
        self.inputs = inputs
        self.previous = previous
        self.active = active_revisions(each for each in inputs.revisions if self._is_relevant(each))
        self.events: list[UpdateEvent] = []
        self.candidates: dict[frozenset[tuple[TemplateKey, str, int]], Candidate] = {}
        self.referenced = referenced_templates(inputs.spec)

    def decision(self) -> UpdateDecision:
        base = self._base_contents()
        self.current = self._candidate(base)
        pending = self._pending(base)
        self.accepts_objects = self._accepts(pending_revision(pending, self.inputs.pending_objects_version))
        self.accepts_templates = self.accepts_objects or self._accepts(pending_revision(pending))
        unchanged = {key: new for key, new in pending.items() if self._is_unchanged(base, key, new)}
        eligible = {key: new for key, new in pending.items() if key in unchanged or self._is_due(key, new)}
        applied, rejection = self._applicable(base, eligible)
        self._add_events(base, applied, rejection, unchanged)
        contents = {**base, **applied}
        waiting = {key: new for key, new in pending.items() if key not in applied}
        rolled_back = [key for key, new in waiting.items() if self._was_rolled_back(key, new)]
        return self._build_decision(contents, PendingUpdate(contents, waiting, rolled_back, rejection))

    def _build_decision(self, contents: TemplateContents, pending: PendingUpdate) -> UpdateDecision:
        inputs, final = self.inputs, self._candidate(contents)
        used = [key for key in used_templates(final.resolved) if key in contents]
        lost = tuple(key for key in used if self._is_lost(key))
        is_valid = not final.problems and not lost
        records = self._records(contents, used) if is_valid else ()
        return UpdateDecision(
            inputs=inputs,
            candidate=final,
            lost=lost,
            records=records,
            to_prune=tuple(revisions_to_prune(inputs.revisions, used, inputs.live, records))
            if is_valid
            else (),
            consumed_annotations=tuple(
                name for name in (ROLL_BACK, APPLY_NOW) if is_valid and self._is_requested(name)
            ),
            events=tuple(self.events),
            notice=update_notice(inputs, pending),
            applied_generations={
                str(key): contents[key].generation for key in sorted(used) if key not in lost
            },
            available_revision=pending_revision(pending.newer, inputs.pending_objects_version),
            next_window=inputs.next_window,
            accepts_objects=self.accepts_objects or self._is_requested(APPLY_NOW),
        )

    # Active contents

    def _is_relevant(self, revision: TemplateRevision) -> bool:
        """Revisions of a template that the cluster no longer uses are relevant as long as the template exists."""
        reported = self.inputs.reported_generations
        is_unused = reported is not None and str(revision.template) not in reported
        return not is_unused or revision.is_content_of(self.inputs.live.get(revision.template))

    def _base_contents(self) -> dict[TemplateKey, TemplateContent]:
        """The active contents, including those of templates that the cluster references for the first time."""
        contents = {key: revision.content for key, revision in self.active.items()}
        for key, new in self.inputs.live.items():
            if key not in contents and not self._is_later_default(key):
                contents[key] = new
        return {**contents, **self._rolled_back(contents)}

    def _is_later_default(self, key: TemplateKey) -> bool:
        """A template named `default` that was created after the cluster is a change of templates, too."""
        reported = self.inputs.reported_generations
        is_implied = key.name == defaults.DEFAULT_TEMPLATE and key not in self.referenced
        return is_implied and reported is not None and str(key) not in reported

    def _is_lost(self, key: TemplateKey) -> bool:
        """The active revision was deleted and the template has changed since: its content is unknown."""
        reported = (self.inputs.reported_generations or {}).get(str(key))
        if (
            key in self.active
            or reported is None
            or self.inputs.mode == AUTO
            or self._is_requested(APPLY_NOW)
        ):
            return False
        live = self.inputs.live.get(key)
        return live is None or live.generation != reported

    def _rolled_back(self, contents: TemplateContents) -> dict[TemplateKey, TemplateContent]:
        if not self._is_requested(ROLL_BACK):
            return {}
        name, used = self.inputs.annotations[ROLL_BACK], used_templates(self._candidate(contents).resolved)
        revisions = [each for each in self.inputs.revisions if each.template in used]
        target = next((each for each in revisions if each.name == name), None)
        if target is None:
            names = ", ".join(sorted(each.name for each in revisions)) or "none"
            self._add_event(reasons.NO_SUCH_REVISION, f"revision {name!r} does not exist; revisions: {names}")
            return {}
        restored, template = {target.template: target.content}, target.template.describe()
        problems = self._problems(self._candidate(contents), {**contents, **restored})
        if problems:
            message = f"{template} cannot be rolled back to {name}: {describe_problems(problems)}"
            self._add_event(reasons.UPDATE_REFUSED, message)
            return {}
        if self.active[target.template] != target:
            message = f"{template} was rolled back to generation {target.content.generation}"
            self._add_event(reasons.ROLLED_BACK, message)
        return restored

    def _add_event(self, reason: str, message: str) -> None:
        self.events.append(UpdateEvent(reason, message))

    def _records(self, contents: TemplateContents, used: list[TemplateKey]) -> tuple[NewRevision, ...]:
        return tuple(
            NewRevision(key, contents[key], next_number(self.inputs.revisions, key))
            for key in sorted(used)
            if not contents[key].is_same_version(self._active_content(key))
        )

    def _active_content(self, key: TemplateKey) -> TemplateContent | None:
        revision = self.active.get(key)
        return None if revision is None else revision.content

    # Newer contents

    def _pending(self, base: TemplateContents) -> dict[TemplateKey, TemplateContent]:
        latest = {**base, **self.inputs.live}
        used = {*used_templates(self.current.resolved), *used_templates(self._candidate(latest).resolved)}
        return {
            key: self.inputs.live[key]
            for key in sorted(used)
            if key in self.inputs.live and not self.inputs.live[key].is_same_version(base.get(key))
        }

    def _is_unchanged(self, base: TemplateContents, key: TemplateKey, new: TemplateContent) -> bool:
        active = base.get(key)
        return active is not None and active.spec == new.spec

    def _is_due(self, key: TemplateKey, new: TemplateContent) -> bool:
        inputs = self.inputs
        if self._is_requested(APPLY_NOW):
            return True
        if self._was_rolled_back(key, new):
            return False
        if inputs.mode == AUTO or self.accepts_templates:
            return True
        return inputs.mode == WINDOW and inputs.window_is_open

    def _accepts(self, revision: str) -> bool:
        return bool(revision) and self.inputs.policy.accepted_revision == revision

    def _was_rolled_back(self, key: TemplateKey, new: TemplateContent) -> bool:
        if self._is_requested(ROLL_BACK):
            return True
        revisions = self.inputs.revisions
        return any(each.template == key and new.is_same_version(each.content) for each in revisions)

    def _is_requested(self, annotation: str) -> bool:
        value = self.inputs.annotations.get(annotation, "")
        return value == "true" if annotation == APPLY_NOW else bool(value)

    # Validation

    def _candidate(self, contents: TemplateContents) -> Candidate:
        """Resolves each set of contents once: on an idle cluster all sets are equal."""
        versions = frozenset((key, content.uid, content.generation) for key, content in contents.items())
        if versions not in self.candidates:
            self.candidates[versions] = resolve_candidate(self.inputs, contents, self.previous)
        return self.candidates[versions]

    def _problems(self, current: Candidate, contents: TemplateContents) -> list[SpecProblem]:
        """Includes changes that a running cluster does not support: templates can request them as well as the spec."""
        after = self._candidate(contents)
        changes = [] if current.problems else validate_update(current.resolved, after.resolved)
        return [*after.problems, *changes]

    def _applicable(self, base: TemplateContents, eligible: TemplateContents) -> tuple[TemplateContents, str]:
        """The eligible contents or, if they make the cluster invalid together, those that do not, with the reason."""
        if not eligible or not self._problems(self.current, {**base, **eligible}):
            return eligible, ""
        applied: dict[TemplateKey, TemplateContent] = {}
        rejected: list[str] = []
        for key, new in eligible.items():
            problems = self._problems(self.current, {**base, **applied, key: new})
            if problems:
                rejected.append(
                    f"{key.describe()} at generation {new.generation} cannot be used: {describe_problems(problems)}"
                )
            else:
                applied[key] = new
        return applied, "; ".join(rejected)

    # Events

    def _add_events(
        self, base: TemplateContents, applied: TemplateContents, rejection: str, unchanged: TemplateContents
    ) -> None:
        changed = [
            f"{key.describe()} ({describe_generations(base.get(key), new)})"
            for key, new in applied.items()
            if key not in unchanged
        ]
        if changed:
            self._add_event(reasons.UPDATE_APPLIED, f"now active: {', '.join(changed)}")
        if rejection and self._is_requested(APPLY_NOW):
            self._add_event(reasons.UPDATE_REFUSED, rejection)
