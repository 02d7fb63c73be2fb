"""When changes of templates, and of pods by a new version of the operator, are applied to a cluster."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.multigres.api.scalars import UNSET, ApiStruct, Unset


class UpdateWindow(ApiStruct):
    """When changes may take effect."""

    cron: Annotated[str, Meta(min_length=1, max_length=128)]
    """Start of the window as a cron expression, for example `0 2 * * SUN`."""
    time_zone: Annotated[str, Meta(min_length=1, max_length=64)] | Unset = UNSET
    """A name of the time zone database, for example Europe/Zurich. UTC when left out."""
    duration: Annotated[str, Meta(max_length=16, pattern=r"^([0-9]+(s|m|h))+$")] | Unset = UNSET
    """How long the window is open, for example `2h`. One hour when left out."""


class UpdatePolicy(ApiStruct):
    """When changes of templates, and of pods by a new version of the operator, are applied to this cluster."""

    template_changes: Literal["Auto", "Manual", "Window"] | Unset = UNSET
    """Auto: at once (the default). Manual: when accepted. Window: when the window opens. Changes by a new version of
    the operator reach a limited number of clusters at a time."""
    window: UpdateWindow | Unset = UNSET
    """The window for `Window`."""
    accepted_revision: Annotated[str, Meta(max_length=64)] | Unset = UNSET
    """For `Manual`: the accepted revision, as status.availableTemplateRevision shows it."""
    rules: ClassVar = (
        Cel(
            "!has(self.templateChanges) || self.templateChanges != 'Window' || has(self.window)",
            "templateChanges Window needs a window",
            ".window",
        ),
    )
