"""An action: what it writes, and the command that does the same. Pure.

An action is bound to what the reader saw: its digest names what it writes, and a reader who confirms sends it back. A
patch that depends on the state of the object names its version, so that it cannot overtake another change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import click

from steward.cli.commands.backups import BACKUP
from steward.cli.commands.running.pause import pause, resume
from steward.cli.hints import command_line
from steward.cli.operations.spec_switches import PAUSED, Switch
from steward.kube.objects.kinds import Kind, Manifest, Ref
from steward.kube.objects.patches import MergePatch


class Action(NamedTuple):
    """`label` is complete, `short` is a part of it for a button that stands beside `about`: the shard, template or
    revision that the action changes, "" for the object of the view. `typed` is what the reader must type before it is
    done, "" for nothing. `creates` are whole objects. `moment` is the time in what is written, "" if there is none."""

    id: str
    label: str
    text: str
    command: str
    ref: Ref
    patch: MergePatch | None = None
    creates: tuple[Manifest, ...] = ()
    short: str = ""
    about: str = ""
    typed: str = ""
    moment: str = ""

    @property
    def written_kind(self) -> Kind:
        return self.ref.kind if self.patch is not None else BACKUP

    @property
    def verb(self) -> str:
        return "patch" if self.patch is not None else "create"

    @property
    def digest(self) -> str:
        """Without the version and the time: a status that is written meanwhile does not change what the reader agreed
        to, and between the dry run and the confirmation time passes."""
        changes = {} if self.patch is None else self.patch.changes
        annotations = (changes.get("metadata") or {}).get("annotations")
        written = json.dumps(
            [self.id, annotations, changes.get("spec"), [each["spec"] for each in self.creates]],
            sort_keys=True,
        )
        timeless = written.replace(self.moment, "") if self.moment else written
        return hashlib.sha256(timeless.encode()).hexdigest()[:24]


def digest_of(actions: Iterable[Action]) -> str:
    """Changes when other actions are possible, or one would do something else."""
    return hashlib.sha256("".join(each.digest for each in actions).encode()).hexdigest()[:12]


def action_dict(action: Action) -> dict[str, Any]:
    return {
        "id": action.id,
        "label": action.label,
        "short": action.short or action.label,
        "about": action.about,
        "text": action.text,
        "command": action.command,
        "typed": action.typed,
        "digest": action.digest,
    }


def verb_help(verb: click.Command) -> str:
    """What the command does, as `--help` says it."""
    return " ".join((verb.help or "").split())


def pause_action(ref: Ref, found: Mapping[str, Any], *, about: str = "") -> Action:
    """Pauses an object, or resumes it if it is paused."""
    is_paused = (found.get("spec") or {}).get(PAUSED) is True
    verb, word = (resume, "Resume") if is_paused else (pause, "Pause")
    kind, name = ref.kind.kind, ref.key.name
    return Action(
        f"{word.lower()} {kind}/{name}",
        f"{word} {kind} {name}",
        verb_help(verb),
        command_line(word.lower(), f"{kind.lower()}/{name}", namespace=ref.key.namespace),
        ref,
        Switch(PAUSED, not is_paused).patch(dict(found)),
        short=word,
        about=about,
    )
