"""Converts a terminal screen, as captured by tmux with colours, to an SVG for documents.

    tmux capture-pane -e -p | python -m steward.docgen.picture 'make up' > docs/up.svg

The web font that rich refers to is removed, so that showing the picture fetches nothing.
"""

from __future__ import annotations

import io
import re
import sys

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

_FONT_FACE = re.compile(r"@font-face \{.*?\}\n?", re.DOTALL)
_NAME = "screen"


def svg(screen: str, title: str) -> str:
    """As wide as the widest line; deterministic."""
    text = Text.from_ansi(screen.rstrip())
    width = max(map(len, text.plain.splitlines()), default=1)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(text, no_wrap=True, soft_wrap=False)
    drawn = console.export_svg(title=title, theme=MONOKAI, unique_id=_NAME)
    return _FONT_FACE.sub("", drawn).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    sys.stdout.write(svg(sys.stdin.read(), sys.argv[1] if len(sys.argv) > 1 else "steward"))
