"""A terminal's screen as a picture for documents: what tmux shows, colours included, becomes an SVG.

    tmux capture-pane -e -p | python -m steward.docgen.picture 'make up' > docs/up.svg

Nothing is drawn by hand, and nothing is fetched when the picture is shown: the font that rich's drawings ask a
stranger's server for is taken out.
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
    """As wide as its widest line. The same screen gives the same bytes."""
    text = Text.from_ansi(screen.rstrip())
    width = max(map(len, text.plain.splitlines()), default=1)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(text, no_wrap=True, soft_wrap=False)
    drawn = console.export_svg(title=title, theme=MONOKAI, unique_id=_NAME)
    return _FONT_FACE.sub("", drawn).replace("Fira Code", "DejaVu Sans Mono")


if __name__ == "__main__":
    sys.stdout.write(svg(sys.stdin.read(), sys.argv[1] if len(sys.argv) > 1 else "steward"))
