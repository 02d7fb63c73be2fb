"""`steward template`: renders a Go template, or a stream of them.

Plain mode puts out exactly the template's bytes. Line mode never ends before its input does: what is wrong with a line
is that line's answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import click

from steward.cli.main import one_sentence
from steward.gotemplate import TemplateError, explain, from_json, parse
from steward.gotemplate.values.values import from_bytes, to_bytes

# The first of each is the default.
CHOICES: Final = {
    "profile": ("hermetic", "full"),
    "missingkey": ("error", "default", "zero", "invalid", "defaulted"),
    "functions": ("sprig", "tenants"),
}
_EPILOG: Final = """\b
Example:
  echo '{{ .name | upper }}-api' > name.tpl
  echo '{"name": "acme"}' | steward template -f name.tpl --data -
  echo '{"id": 1, "tpl": "{{ .n }}", "data": {"n": 1e6}}' | steward template --jsonl
\b
Exit codes: 0 rendered (with --jsonl: each line says how it went), 1 the template or its values are wrong.
"""


_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


class BadLine(ValueError):
    """A line of input that asks for nothing that can be rendered."""


class Options(NamedTuple):
    profile: str
    missingkey: str
    functions: str

    def with_line(self, given: object) -> Options:
        """The options of one line: its own where it has some."""
        if given is None:
            return self
        if not isinstance(given, Mapping):
            raise BadLine("opts must be an object")
        for name, value in given.items():
            if value not in CHOICES.get(name, ()):
                raise BadLine(f"opts.{name} cannot be {json.dumps(value)}{_instead(name)}")
        return self._replace(**given)


def _instead(name: str) -> str:
    allowed = CHOICES.get(name)
    return (
        f": use one of {', '.join(allowed)}"
        if allowed
        else f": there is no such option, only {', '.join(CHOICES)}"
    )


def _choice(name: str, text: str) -> Callable[[_Decorated], _Decorated]:
    allowed = CHOICES[name]
    return click.option(
        f"--{name}", type=click.Choice(allowed), default=allowed[0], show_default=True, help=text
    )


@click.command(name="template", epilog=_EPILOG)
@click.option("-f", "--file", "file", type=_INPUT, help="The template; - for standard input.")
@click.option("--data", type=_INPUT, help="Its data, JSON; - for standard input.  [default: {}]")
@_choice("profile", "hermetic has no clock, randomness or keys.")
@_choice("missingkey", "What a missing key is; defaulted: an error unless default, if and their kin take it.")
@_choice("functions", "tenants adds the typed int, float and bool.")
@click.option(
    "--jsonl",
    is_flag=True,
    help="Read lines {id, tpl, data, opts} from --data or standard input; "
    "write lines {id, out}, {id, out_b64} or {id, err}.",
)
def command(file: Path | None, data: Path | None, jsonl: bool, **options: str) -> None:
    """Render a Go template with sprig functions, byte for byte as Go does."""
    chosen = Options(**options)
    if jsonl:
        if file is not None:
            raise click.UsageError("--jsonl takes templates from its lines: leave out --file")
        with _opened(data or Path("-")) as lines:
            return render_lines(lines, sys.stdout.buffer, chosen)
    if file is None:
        raise click.UsageError("name a template with --file, or use --jsonl")
    if _is_dash(file) and data is not None and _is_dash(data):
        raise click.UsageError("standard input is either the template or the data, not both")
    return render_file(file, data, chosen)


def render_file(file: Path, data: Path | None, options: Options) -> None:
    with one_sentence(OSError):
        source = from_bytes(_read(file))
        text = _read(data) if data else b"{}"
    value = _decoded(data, text)
    try:
        output = parse(source, **options._asdict()).render_bytes(value)
    except TemplateError as error:
        click.echo(explain(error, value), err=True)
        raise click.exceptions.Exit(1) from None
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()


def render_lines(lines: BinaryIO, out: BinaryIO, options: Options) -> None:
    for line in lines:
        if line.strip():
            out.write(json.dumps(_answer(line, options)).encode() + b"\n")
            # Whoever writes one line and waits for its answer must get it.
            out.flush()


def _answer(line: bytes, options: Options) -> dict[str, Any]:
    identity = None
    try:
        request = _request(line)
        identity = _identity(line, request)
        return {"id": identity} | _rendered(request, options)
    except (TemplateError, ValueError) as error:
        return {"id": identity, "err": str(error)}


def _request(line: bytes) -> dict[str, Any]:
    try:
        request = from_json(line)
    except ValueError as error:
        raise BadLine(f"bad line: {error}") from None
    if not isinstance(request, dict):
        raise BadLine("bad line: it must be an object with tpl and data")
    return request


def _identity(line: bytes, request: dict[str, Any]) -> Any:
    identity = request.get("id")
    # Data has all its numbers as float64; an id is given back as it came.
    return identity if identity is None or isinstance(identity, str) else json.loads(line)["id"]


def _rendered(request: dict[str, Any], options: Options) -> dict[str, str]:
    source = request.get("tpl")
    if not isinstance(source, str):
        raise BadLine("bad line: tpl must be a string")
    text = parse(source, **options.with_line(request.get("opts"))._asdict()).render(request.get("data"))
    try:
        text.encode()
    except UnicodeEncodeError:
        import base64

        return {"out_b64": base64.b64encode(to_bytes(text)).decode()}
    return {"out": text}


def _decoded(file: Path | None, text: bytes) -> Any:
    try:
        return from_json(text)
    except ValueError as error:
        raise click.ClickException(f"the data in {file} is no JSON: {error}") from error


def _is_dash(file: Path) -> bool:
    return str(file) == "-"


def _opened(file: Path) -> BinaryIO:
    with one_sentence(OSError):
        return sys.stdin.buffer if _is_dash(file) else file.open("rb")


def _read(file: Path) -> bytes:
    return sys.stdin.buffer.read() if _is_dash(file) else file.read_bytes()
