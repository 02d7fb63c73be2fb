"""Sentences on a narrow terminal."""

import pytest

from steward.cli.word_wrap import wrap_text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("✓ short", ["✓ short"]),
        (
            "✗ Tenant shop/acme has failed because of a pod",
            ["✗ Tenant shop/acme has", "  failed because of a pod"],
        ),
        (
            "│  ├─ … Pod web: is Pending and not ready",
            ["│  ├─ … Pod web: is Pending", "│  │    and not ready"],
        ),
        (
            "   └─ … Pod web: is Pending and not ready",
            ["   └─ … Pod web: is Pending", "        and not ready"],
        ),
        (
            "a-name-that-is-longer-than-the-terminal is kept whole",
            ["a-name-that-is-longer-than-the-terminal", "is kept whole"],
        ),
    ],
    ids=["it fits", "a sentence", "a branch", "the last branch", "a long word"],
)
def test_a_line_is_wrapped_between_words(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 25) == lines


@pytest.mark.parametrize(
    "command",
    [
        "steward hold approve tenantregistry/crm -n shop.",
        "`steward rows crm -n shop`",
        "kubectl get pods -n a",
    ],
)
def test_a_command_stays_on_one_line(command: str) -> None:
    assert command in wrap_text(f"✗ it is held. To do: approve it: {command}", 25)[-1]
