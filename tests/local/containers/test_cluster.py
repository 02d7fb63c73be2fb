"""What is found out before anything is made: the mode of a directory, the nodes, the images of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.local import state
from steward.local.containers.cluster import plan_cluster
from steward.local.containers.machine import preparation
from steward.local.errors import BadImageArchive, ModeChanged
from steward.local.progress import SilentProgress
from steward.local.settings import ContainerSettings, ControlPlaneSettings, Layout, with_containers
from steward.local.state import State


@pytest.mark.parametrize(
    ("pod_subnet", "sentence"),
    [
        (
            "10.88.0.0/24",
            "made with containers and cannot be started without them: delete it with `steward down --purge`",
        ),
        (
            "",
            "made without containers and cannot be started with them: delete it with `steward down --purge`",
        ),
    ],
)
async def test_a_change_of_the_mode_is_refused(tmp_path: Path, pod_subnet: str, sentence: str) -> None:
    layout = Layout(tmp_path)
    state.write(layout.state, State({"etcd": 1}, pod_subnet=pod_subnet))
    settings = ControlPlaneSettings(tmp_path)
    if not pod_subnet:
        settings = with_containers(settings, ContainerSettings(), ("z1",))
    with pytest.raises(ModeChanged, match=sentence):
        await plan_cluster(settings, layout, SilentProgress())


async def test_a_new_directory_without_containers_needs_nothing(tmp_path: Path) -> None:
    assert await plan_cluster(ControlPlaneSettings(tmp_path), Layout(tmp_path), SilentProgress()) is None


def test_containers_have_one_node_in_each_zone(tmp_path: Path) -> None:
    settings = with_containers(ControlPlaneSettings(tmp_path), ContainerSettings(), ("a", "b", "a"))
    assert (settings.zones, settings.nodes) == (("a", "b"), 2)


async def test_an_unreadable_image_archive_is_reported_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "require_suitable", lambda: None)
    (tmp_path / "bad.tar").write_text("x")
    directory = tmp_path / "cluster"
    settings = with_containers(ControlPlaneSettings(directory), ContainerSettings(images=tmp_path), ("z1",))
    with pytest.raises(BadImageArchive, match=r"bad\.tar is not a readable image archive"):
        await plan_cluster(settings, Layout(directory), SilentProgress())
    assert not directory.exists()
