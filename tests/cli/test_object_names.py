"""Object names on the command line."""

import click
import pytest
from click.testing import CliRunner

from steward.cli.commands import why
from steward.cli.main import ExitCode
from steward.cli.object_names import SHORT_NAMES, ObjectName, matches_kind
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS


@pytest.mark.parametrize(
    ("word", "kind", "expected"),
    [
        ("multigrescluster", "MultigresCluster", True),
        ("MultigresClusters", "MultigresCluster", True),
        ("multigresclusters.multigres.com", "MultigresCluster", True),
        ("mgc", "MultigresCluster", True),
        ("tenantregistries", "TenantRegistry", True),
        ("sts", "StatefulSet", True),
        ("tenant", "TenantRegistry", False),
        ("", "Pod", False),
    ],
)
def test_a_kind_is_accepted_in_every_spelling_of_kubectl(word: str, kind: str, expected: bool) -> None:
    assert matches_kind(word, kind) is expected


def test_short_names_are_those_of_the_definitions() -> None:
    declared = {
        short: custom.kind.lower()
        for custom in (*MULTIGRES_KINDS, *TENANT_KINDS)
        for short in custom.short_names
    }
    assert declared.items() <= SHORT_NAMES.items()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("/shop", "/shop is not KIND/NAME: try multigrescluster/shop"),
        ("mgc/", "mgc/ is not KIND/NAME: try multigrescluster/mgc"),
        ("unicorn/shop", "unicorn is not a kind that Steward shows; there are: multigrescluster, "),
    ],
)
def test_why_says_how_to_name_an_object(what: str, message: str) -> None:
    done = CliRunner().invoke(why.command, [what, "--kubeconfig", "/nowhere"])
    assert done.exit_code == ExitCode.USAGE
    assert message in done.stderr


@pytest.mark.parametrize("given", ["prod", "tenantregistry/prod", "TenantRegistries/prod"])
def test_the_kind_is_optional_where_only_one_is_possible(given: str) -> None:
    assert ObjectName("TenantRegistry").convert(given, None, None) == "prod"


def test_an_object_of_another_kind_is_rejected_in_one_sentence() -> None:
    with pytest.raises(click.BadParameter, match="tenanttemplate/web is not a TenantRegistry: name one"):
        ObjectName("TenantRegistry").convert("tenanttemplate/web", None, None)
