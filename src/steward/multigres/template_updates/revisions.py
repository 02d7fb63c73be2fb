"""Contents of templates that are or were active for a cluster, stored as ControllerRevisions of the cluster. Pure.

The revision of a template with the highest number is active. Activating a new content and rolling back are therefore
one write of one object, and no crash can leave two active contents or none. The name of a revision is derived from its
content: writing it twice results in one object.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steward.kube.objects.kinds import CONTROLLER_REVISION, Manifest
from steward.multigres import names
from steward.multigres.objects.metadata import Owner, component_labels, metadata
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.views import RevisionView

COMPONENT = "template-revision"
TEMPLATE_KIND = "multigres.com/template-kind"
TEMPLATE_NAME = "multigres.com/template"
KEPT_PER_TEMPLATE = 10


class TemplateContent(NamedTuple):
    """Content of a template at one generation; the uid tells apart a template that was deleted and recreated."""

    uid: str
    generation: int
    spec: Mapping[str, Any]

    def is_same_version(self, other: "TemplateContent | None") -> bool:
        return other is not None and (self.uid, self.generation) == (other.uid, other.generation)


class TemplateRevision(NamedTuple):
    """A stored revision: one ControllerRevision."""

    name: str
    uid: str
    number: int
    template: TemplateKey
    content: TemplateContent

    def is_content_of(self, live: TemplateContent | None) -> bool:
        """Whether it is a content of this template, not of an earlier one of the same name."""
        return live is not None and live.uid == self.content.uid


class NewRevision(NamedTuple):
    """A revision to write: its content becomes active."""

    template: TemplateKey
    content: TemplateContent
    number: int


def read_revision(view: RevisionView) -> TemplateRevision:
    data = view.data
    return TemplateRevision(
        view.metadata.name,
        view.metadata.uid,
        view.revision,
        TemplateKey(data.kind, data.name),
        TemplateContent(data.uid, data.generation, data.spec),
    )


def active_revisions(revisions: Iterable[TemplateRevision]) -> dict[TemplateKey, TemplateRevision]:
    return {each.template: each for each in sorted(revisions, key=lambda revision: revision.number)}


def next_number(revisions: Iterable[TemplateRevision], template: TemplateKey) -> int:
    return 1 + max((each.number for each in revisions if each.template == template), default=0)


def revisions_to_prune(
    revisions: Sequence[TemplateRevision],
    used: Iterable[TemplateKey],
    live: Mapping[TemplateKey, TemplateContent],
    records: Iterable[NewRevision],
) -> list[TemplateRevision]:
    """Revisions to delete after `records` are written: all but the last ten of each template.

    The revision of the template's live content is always kept: it shows that the cluster was rolled back from it.
    Revisions of a template that the cluster no longer uses are kept while the template exists: the cluster may use it
    again.
    """
    recorded = {(record.template, record.content.uid, record.content.generation) for record in records}
    kept = {*used, *(each.template for each in revisions if each.is_content_of(live.get(each.template)))}
    to_prune = [each for each in revisions if each.template not in kept]
    for template in sorted(kept):
        stored = [
            each for each in revisions if each.template == template and not _is_recorded(each, recorded)
        ]
        room = KEPT_PER_TEMPLATE - sum(1 for record in records if record.template == template)
        oldest = sorted(stored, key=lambda revision: -revision.number)[room:]
        to_prune += [each for each in oldest if not each.content.is_same_version(live.get(template))]
    return to_prune


def _is_recorded(revision: TemplateRevision, recorded: set[tuple[TemplateKey, str, int]]) -> bool:
    return (revision.template, revision.content.uid, revision.content.generation) in recorded


def revision_name(cluster: str, template: TemplateKey, content: TemplateContent) -> str:
    prefix = f"{cluster}-{template.kind.lower()}-{template.name}-{content.generation}"
    return f"{prefix}-{names.digest(cluster, *template, content.uid, str(content.generation))}"


def revision_manifest(owner: Owner, record: NewRevision) -> Manifest:
    template, content, number = record
    template_labels = {TEMPLATE_KIND: template.kind, TEMPLATE_NAME: template.name}
    return {
        "apiVersion": CONTROLLER_REVISION.api_version,
        "kind": CONTROLLER_REVISION.kind,
        "metadata": metadata(
            owner,
            revision_name(owner.name, template, content),
            component_labels(owner.name, COMPONENT, template_labels),
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
