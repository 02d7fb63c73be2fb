"""Limits the length of lists in messages: one mistake in a template is a problem of every shard that uses it. Pure."""

from collections.abc import Sequence

SHOWN = 20


def first_texts(texts: Sequence[str], noun: str) -> list[str]:
    """The first texts, followed by one that counts the others."""
    hidden = len(texts) - SHOWN
    return list(texts) if hidden <= 0 else [*texts[:SHOWN], f"and {hidden:,} more {noun}"]
