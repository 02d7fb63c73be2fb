"""A fake operator module for `steward run`."""


def set_up(manager: object, settings: object) -> None: ...
