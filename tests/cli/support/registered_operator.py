"""Stands where an operator's module stands in the table of `steward run`."""


def set_up(manager: object, settings: object) -> None: ...
