"""`steward template`: renders a Go template, or a stream of templates.

Without --jsonl the output is exactly the bytes of the template. With --jsonl an invalid line is answered by an error
line; the stream goes on until the input ends.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import click

from steward.cli.main import expected_errors
from steward.gotemplate import TemplateError, explain, from_json, parse
from steward.gotemplate.values.values import from_bytes, to_bytes

# The first value of each option is the default.
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
Exit codes: 0 rendered (with --jsonl: errors are in the lines), 1 the template or its data is invalid.
"""


_INPUT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_Decorated = TypeVar("_Decorated", bound=Callable[..., object])


class InvalidLine(ValueError):
    """An input line that is not a valid request."""


class TemplateOptions(NamedTuple):
    profile: str
    missingkey: str
    functions: str

    def override(self, line_options: object) -> TemplateOptions:
        """The options of one line; unset ones are inherited."""
        if line_options is None:
            return self
        if not isinstance(line_options, Mapping):
            raise InvalidLine("opts must be an object")
        for name, value in line_options.items():
            if value not in CHOICES.get(name, ()):
                raise InvalidLine(f"opts.{name} cannot be {json.dumps(value)}{_allowed_values(name)}")
        return self._replace(**line_options)


def _allowed_values(name: str) -> str:
    allowed = CHOICES.get(name)
    return (
        f": use one of {', '.join(allowed)}"
        if allowed
        else f": there is no such option, only {', '.join(CHOICES)}"
    )


def _choice_option(name: str, text: str) -> Callable[[_Decorated], _Decorated]:
    allowed = CHOICES[name]
    return click.option(
        f"--{name}", type=click.Choice(allowed), default=allowed[0], show_default=True, help=text
    )


@click.command(name="template", epilog=_EPILOG)
@click.option("-f", "--file", "file", type=_INPUT, help="The template; - for standard input.")
@click.option("--data", type=_INPUT, help="Its data, JSON; - for standard input.  [default: {}]")
@_choice_option("profile", "hermetic has no clock, randomness or keys.")
@_choice_option(
    "missingkey",
    "How a missing key is handled; defaulted: an error unless default, if or similar functions take it.",
)
@_choice_option("functions", "tenants adds the typed int, float and bool.")
@click.option(
    "--jsonl",
    is_flag=True,
    help="Read lines {id, tpl, data, opts} from --data or standard input; "
    "write lines {id, out}, {id, out_b64} or {id, err}.",
)
def command(file: Path | None, data: Path | None, jsonl: bool, **options: str) -> None:
    """Render a Go template with sprig functions, byte for byte as Go does."""
    chosen = TemplateOptions(**options)
    if jsonl:
        if file is not None:
            raise click.UsageError("--jsonl takes templates from its lines: leave out --file")
        with _open_input(data or Path("-")) as lines:
            return render_lines(lines, sys.stdout.buffer, chosen)
    if file is None:
        raise click.UsageError("name a template with --file, or use --jsonl")
    if _is_dash(file) and data is not None and _is_dash(data):
        raise click.UsageError("standard input is either the template or the data, not both")
    return render_file(file, data, chosen)


def render_file(file: Path, data: Path | None, options: TemplateOptions) -> None:
    with expected_errors(OSError):
        source = from_bytes(_read_input(file))
        text = _read_input(data) if data else b"{}"
    value = _decode_data(data, text)
    try:
        output = parse(source, **options._asdict()).render_bytes(value)
    except TemplateError as error:
        click.echo(explain(error, value), err=True)
        raise click.exceptions.Exit(1) from None
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()


def render_lines(lines: BinaryIO, out: BinaryIO, options: TemplateOptions) -> None:
    for line in lines:
        if line.strip():
            out.write(json.dumps(_render_line(line, options)).encode() + b"\n")
            # Flush every line: the caller may wait for the answer before it writes the next line.
            out.flush()


def _render_line(line: bytes, options: TemplateOptions) -> dict[str, Any]:
    identity = None
    try:
        request = _parse_line(line)
        identity = _line_id(line, request)
        return {"id": identity} | _render_request(request, options)
    except (TemplateError, ValueError) as error:
        return {"id": identity, "err": str(error)}


def _parse_line(line: bytes) -> dict[str, Any]:
    try:
        request = from_json(line)
    except ValueError as error:
        raise InvalidLine(f"bad line: {error}") from None
    if not isinstance(request, dict):
        raise InvalidLine("bad line: it must be an object with tpl and data")
    return request


def _line_id(line: bytes, request: dict[str, Any]) -> Any:
    identity = request.get("id")
    # All numbers of the data are float64; the id is returned unchanged.
    return identity if identity is None or isinstance(identity, str) else json.loads(line)["id"]


def _render_request(request: dict[str, Any], options: TemplateOptions) -> dict[str, str]:
    source = request.get("tpl")
    if not isinstance(source, str):
        raise InvalidLine("bad line: tpl must be a string")
    text = parse(source, **options.override(request.get("opts"))._asdict()).render(request.get("data"))
    try:
        text.encode()
    except UnicodeEncodeError:
        import base64

        return {"out_b64": base64.b64encode(to_bytes(text)).decode()}
    return {"out": text}


def _decode_data(file: Path | None, text: bytes) -> Any:
    try:
        return from_json(text)
    except ValueError as error:
        raise click.ClickException(f"the data in {file} is not valid JSON: {error}") from error


def _is_dash(file: Path) -> bool:
    return str(file) == "-"


def _open_input(file: Path) -> BinaryIO:
    with expected_errors(OSError):
        return sys.stdin.buffer if _is_dash(file) else file.open("rb")


def _read_input(file: Path) -> bytes:
    return sys.stdin.buffer.read() if _is_dash(file) else file.read_bytes()
