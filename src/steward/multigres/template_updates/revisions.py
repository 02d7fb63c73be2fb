"""The contents of templates that were ever in force for a cluster, as ControllerRevisions that the cluster owns. Pure.

Of all revisions of a template, the one with the highest number is in force. Taking a new content and going back to an
old one are therefore one write each, of one object, and no crash can leave two contents in force or none. The name
follows from what the revision holds: writing it twice makes one object.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest
from steward.multigres import names
from steward.multigres.objects.metadata import Owner, labels, metadata
from steward.multigres.views import RevisionView

COMPONENT = "template-revision"
TEMPLATE_KIND = "multigres.com/template-kind"
TEMPLATE_NAME = "multigres.com/template"
KEPT = 10


class TemplateKey(NamedTuple):
    """A template of the cluster's namespace."""

    kind: str
    name: str

    @property
    def told(self) -> str:
        return f"{self.kind} {self.name!r}"

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Content(NamedTuple):
    """What a template said at one generation; the uid tells it from a namesake of earlier days."""

    uid: str
    generation: int
    spec: Mapping[str, Any]

    def is_version(self, other: "Content | None") -> bool:
        return other is not None and (self.uid, self.generation) == (other.uid, other.generation)


class Revision(NamedTuple):
    """One ControllerRevision."""

    name: str
    uid: str
    number: int
    template: TemplateKey
    content: Content

    def is_of(self, live: Content | None) -> bool:
        """Whether it holds what this very template once said, and not a namesake of it."""
        return live is not None and live.uid == self.content.uid


class Record(NamedTuple):
    """A revision to be written: this content is in force from then on."""

    template: TemplateKey
    content: Content
    number: int


def read_revision(seen: RevisionView) -> Revision:
    held = seen.data
    return Revision(
        seen.metadata.name,
        seen.metadata.uid,
        seen.revision,
        TemplateKey(held.kind, held.name),
        Content(held.uid, held.generation, held.spec),
    )


def in_force(revisions: Iterable[Revision]) -> dict[TemplateKey, Revision]:
    return {each.template: each for each in sorted(revisions, key=lambda known: known.number)}


def next_number(revisions: Iterable[Revision], template: TemplateKey) -> int:
    return 1 + max((known.number for known in revisions if known.template == template), default=0)


def surplus(
    revisions: Sequence[Revision],
    used: Iterable[TemplateKey],
    live: Mapping[TemplateKey, Content],
    records: Iterable[Record],
) -> list[Revision]:
    """What is no longer worth keeping, once `records` are written: all but the last ten of each template.

    The one that the template holds now is kept however old it is: it tells that the cluster went back from it. Those of
    a template that is no longer used stay as long as it is there: the cluster may turn back to it.
    """
    coming = {(record.template, record.content.uid, record.content.generation) for record in records}
    kept = {*used, *(known.template for known in revisions if known.is_of(live.get(known.template)))}
    going = [known for known in revisions if known.template not in kept]
    for template in sorted(kept):
        waiting = [known for known in revisions if known.template == template and not _is(known, coming)]
        room = KEPT - sum(1 for record in records if record.template == template)
        oldest = sorted(waiting, key=lambda known: -known.number)[room:]
        going += [known for known in oldest if not known.content.is_version(live.get(template))]
    return going


def _is(known: Revision, coming: set[tuple[TemplateKey, str, int]]) -> bool:
    return (known.template, known.content.uid, known.content.generation) in coming


def revision_name(cluster: str, template: TemplateKey, content: Content) -> str:
    told = f"{cluster}-{template.kind.lower()}-{template.name}-{content.generation}"
    return f"{told}-{names.digest(cluster, *template, content.uid, str(content.generation))}"


def revision_manifest(owner: Owner, record: Record) -> Manifest:
    template, content, number = record
    place = {TEMPLATE_KIND: template.kind, TEMPLATE_NAME: template.name}
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.kind,
        "metadata": metadata(
            owner, revision_name(owner.name, template, content), labels(owner.name, COMPONENT, place)
        ),
        "revision": number,
        "data": {
            "kind": template.kind,
            "name": template.name,
            "uid": content.uid,
            "generation": content.generation,
            "spec": dict(content.spec),
        },
    }
