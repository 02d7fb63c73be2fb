"""The generated references are current and complete."""

import re
from types import ModuleType

import pytest

from steward.cli.main import VERBS
from steward.docgen import api
from steward.docgen.__main__ import NOTE, REFERENCES
from steward.docgen.multigres_defaults import MULTIGRES_DEFAULTS
from steward.kube.crd.schema import CustomKind
from steward.multigres import reasons as multigres_reasons
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants import reasons as tenant_reasons
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.support.paths import ROOT


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_reference_is_current(name: str) -> None:
    assert (ROOT / "docs/reference" / name).read_text() == NOTE + REFERENCES[name]()


@pytest.mark.parametrize("custom", [*MULTIGRES_KINDS, *TENANT_KINDS], ids=lambda custom: custom.kind)
def test_a_kind_is_documented_with_its_spec_and_every_struct_in_it(custom: CustomKind) -> None:
    text = api.api_page("The API", (custom,))

    links = {part.partition(")")[0] for part in text.split("](#")[1:]}
    headings = {line[4:].lower() for line in text.splitlines() if line.startswith("### ")}
    assert f"## {custom.kind}\n" in text
    assert links == headings


@pytest.mark.parametrize(
    ("field", "default"),
    [
        ("replicasPerCell", "`3`"),
        ("durabilityPolicy", "`AT_LEAST_2`"),
        ("whenDeleted", "`Retain`"),
        ("templateChanges", "`Auto`"),
        ("registerCell", "`true`"),
        ("path", "`/backups`"),
    ],
)
def test_the_reference_has_the_defaults_that_the_operator_resolves(field: str, default: str) -> None:
    text = REFERENCES["api-multigres.md"]()
    defaults = {line.split(" | ")[2] for line in text.splitlines() if line.startswith(f"| `{field}` |")}
    assert default in defaults


def test_a_default_names_an_existing_field() -> None:
    unknown = [
        (struct.__name__, name)
        for struct, fields in MULTIGRES_DEFAULTS.items()
        for name in fields
        if name not in struct.__struct_fields__
    ]
    assert unknown == []


def test_every_verb_is_in_the_reference_of_the_command_line() -> None:
    text = REFERENCES["commands.md"]()

    assert [verb for verb in VERBS if f"## steward {verb}\n" not in text] == []


@pytest.mark.parametrize("module", [multigres_reasons, tenant_reasons], ids=lambda module: module.__name__)
def test_every_reason_says_what_it_means(module: ModuleType) -> None:
    declared = {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}

    assert set(module.MEANINGS) == declared


def test_metrics_named_on_the_pages_are_registered_with_these_labels() -> None:
    """The pages about monitoring are written by hand."""
    registered = dict(rows_of(REFERENCES["metrics.md"](), column=2))
    pages = [ROOT / "docs/monitoring" / name for name in ("README.md", "tenants.md")]
    named = [row for page in pages for row in rows_of(page.read_text(), column=1)]
    assert len(named) > 15
    assert {name: labels for name, labels in named if registered.get(name) != labels} == {}


def rows_of(page: str, column: int) -> list[tuple[str, str]]:
    """Names and labels in the tables of metrics; `a_b`, `_c` in one cell are a_b and a_c."""
    found = []
    for cells in (line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")):
        names = re.findall(r"`(\w+)`", cells[0])
        stem = names[0].rpartition("_")[0]
        for name in names:
            found.append((stem + name if name.startswith("_") else name, cells[column].strip()))
    return found
