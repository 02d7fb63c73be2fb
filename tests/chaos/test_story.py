"""Stories as files."""

from pathlib import Path

import pytest

from tests.chaos.generator import draw_story, known_stories
from tests.chaos.story import Edit, Kill, Meddle, Pause, Story, from_json, to_json


@pytest.mark.parametrize("number", range(20))
def test_a_story_survives_its_file(number: int) -> None:
    story = draw_story(7, number)
    assert from_json(to_json(story)) == story


def test_a_file_has_one_action_a_line() -> None:
    story = Story("cluster", (Edit("admins", value=1), Kill(2)))
    assert [line.strip(" ,") for line in to_json(story).splitlines()[1:3]] == [
        '{"do":"edit","field":"admins","value":1}',
        '{"do":"kill","write":2}',
    ]


def test_a_story_without_actions_survives_its_file() -> None:
    assert from_json(to_json(Story("fleet", (), "sqlite"))) == Story("fleet", (), "sqlite")


def test_only_a_pause_needs_leader_election() -> None:
    assert not Story("cluster", (Kill(),)).needs_election
    assert Story("cluster", (Kill(), Pause())).needs_election


def test_actions_are_counted_by_type() -> None:
    story = Story("cluster", (Edit("admins"), Meddle("pods", "delete"), Kill()))
    assert story.count(Edit, Meddle) == 2


@pytest.mark.parametrize("path", known_stories(), ids=lambda path: path.stem)
def test_a_known_story_has_a_description_and_known_actions(path: Path) -> None:
    story = from_json(path.read_bytes())
    assert story.origin
    assert story.actions
