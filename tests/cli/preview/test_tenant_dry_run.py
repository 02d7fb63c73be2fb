"""What a preview says of an object that the API server would reject."""

from steward.cli.preview.tenant_dry_run import describe_schema_problems

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}


def test_a_wrong_type_is_described_as_lint_describes_it() -> None:
    wrong = {**DEPLOYMENT, "spec": {"replicas": "3", "replica": 1}}
    assert describe_schema_problems(wrong) == (
        "spec.replicas: must be a whole number, and is text: remove the quotes; "
        "spec.replica: there is no such field; did you mean replicas?"
    )


def test_an_object_without_problems_has_no_description() -> None:
    assert describe_schema_problems(DEPLOYMENT) == ""
