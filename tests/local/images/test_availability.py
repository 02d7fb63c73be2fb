from steward.local.images.availability import missing_images


def test_missing_images_are_compared_by_full_name() -> None:
    needed = ["app:1", "ghcr.io/team/app:1", "app:1"]
    assert missing_images(needed, ["docker.io/library/app:1"]) == ["ghcr.io/team/app:1"]
