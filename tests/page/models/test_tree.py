"""The objects below an object."""

from steward.page.models.tree import tree_parts
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import snapshot_of


def test_healthy_siblings_are_one_line() -> None:
    (tree,) = snapshot_of(sample.cluster(), *sample.shards()).trees
    (part,) = tree_parts(tree)
    assert (part.text, part.object) == ("2 × Shard", None)


def test_a_problem_is_named_with_its_message() -> None:
    broken = sample.shard("0-8", [sample.server("db-1", "zone-a", "Down")])
    (tree,) = snapshot_of(sample.cluster(), broken).trees
    (part,) = tree_parts(tree)
    assert part.object is not None
    assert (part.object.name, part.text) == ("db-postgres-default-0-8", "server db-1 does not stream")
