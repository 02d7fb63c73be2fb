"""References say what the code says, and leave nothing out."""

from pathlib import Path
from types import ModuleType

import pytest

from steward.cli.main import VERBS
from steward.kube.crd import CustomKind
from steward.multigres import reasons as multigres_reasons
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.reference import api
from steward.reference.__main__ import files
from steward.tenants import reasons as tenant_reasons
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(files()))
def test_a_reference_is_current(name: str) -> None:
    assert (ROOT / name).read_text() == files()[name]


@pytest.mark.parametrize("custom", [*MULTIGRES_KINDS, *TENANT_KINDS], ids=lambda custom: custom.kind)
def test_a_kind_is_told_with_its_spec_and_all_that_it_holds(custom: CustomKind) -> None:
    told = api.document("The API", (custom,))

    links = {part.partition(")")[0] for part in told.split("](#")[1:]}
    headings = {line[4:].lower() for line in told.splitlines() if line.startswith("### ")}
    assert f"## {custom.kind}\n" in told
    assert links == headings


def test_every_verb_is_in_the_reference_of_the_command_line() -> None:
    told = files()["docs/reference/commands.md"]

    assert [verb for verb in VERBS if f"## steward {verb}\n" not in told] == []


@pytest.mark.parametrize("module", [multigres_reasons, tenant_reasons], ids=lambda module: module.__name__)
def test_every_reason_says_what_it_means(module: ModuleType) -> None:
    declared = {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}

    assert set(module.MEANINGS) == declared
