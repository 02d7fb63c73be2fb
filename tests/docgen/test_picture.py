"""Pictures of screens: complete, and without external references."""

import html
import re

from steward.cli.inspect.object_tree import build_trees
from steward.cli.inspect.progress import TreeProgress
from steward.docgen.picture import svg
from tests.cli.support.tree_objects import CLUSTER, READY, tree_object
from tests.support.paths import ROOT

SCREEN = "\x1b[32m✓ MultigresCluster demo/orders\x1b[0m\n  <angle> & quote\n\n"


def test_a_picture_has_the_text_and_colours_and_is_deterministic() -> None:
    drawn = svg(SCREEN, "make up")
    assert "MultigresCluster&#160;demo/orders" in drawn
    assert "&lt;angle&gt;&#160;&amp;&#160;quote" in drawn
    assert "make&#160;up" in drawn or "make up" in drawn
    assert drawn == svg(SCREEN, "make up")


def test_nothing_is_fetched_when_a_picture_is_shown() -> None:
    assert re.findall(r"url\((?!#)|@font-face|@import|href=", svg(SCREEN, "make up")) == []


def test_the_picture_of_the_first_page_is_what_is_drawn_today() -> None:
    drawn = (ROOT / "docs/up.svg").read_text()
    texts = re.findall(r"<text [^>]*clip-path[^>]*>([^<]*)</text>", drawn)
    lines = [html.unescape(text).replace("\xa0", " ").rstrip() for text in texts]
    progress = TreeProgress()
    progress.update(
        build_trees(
            [tree_object(CLUSTER, conditions=READY), tree_object("Cell/a", CLUSTER, conditions=READY)]
        ),
        1.0,
    )
    _, today = (line.text for line in progress.render(1.0))
    trees = [line for line in lines if " of " in line]
    assert len(trees) > 10
    assert {len(line) for line in trees} == {len(today)}
    assert [line for line in trees if not re.fullmatch(r"✓ [├└]─ \w+ +\d+ of \d+ +\d+\.\d s", line)] == []
