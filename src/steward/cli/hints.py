"""Commands that messages suggest: complete lines that work when they are pasted, with the cluster options in use."""

from __future__ import annotations

import re
import shlex
from typing import Final

import click

_ANNOTATE_UPDATE: Final = re.compile(r"run `kubectl annotate [^`]*`")
_LOCAL: Final = "steward.local_cluster"
_KUBECTL: Final = re.compile(
    r"(?<!steward )\bkubectl (?=(annotate|apply|delete|describe|get|label|logs|patch|scale)\b)"
)


def command_line(*words: str, namespace: str = "") -> str:
    """`steward WORDS -n NAMESPACE`, with the options by which the running command reaches the cluster."""
    context = click.get_current_context(silent=True)
    scope = ("-n", namespace) if namespace else ()
    return " ".join([_program(context), *map(shlex.quote, (*words, *scope, *_cluster_words(context)))])


def cluster_flags() -> str:
    """The cluster options of the running command, to append to a suggested command."""
    words = _cluster_words(click.get_current_context(silent=True))
    return "".join(f" {shlex.quote(word)}" for word in words)


def with_update_command(message: str, name: str, namespace: str) -> str:
    """The operator's message about a pending update, with the command of this program instead of kubectl's."""
    apply_it = command_line("updates", "apply", name, namespace=namespace)
    return _ANNOTATE_UPDATE.sub(f"run `{apply_it}`", message)


def mark_local_cluster() -> None:
    """Remembers that the running command uses the cluster of `steward up` without an option that says so."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_LOCAL] = True


def with_cluster_options(text: str) -> str:
    """The text with every kubectl command in it as it has to be typed for the cluster of the running command. Messages
    of the operators suggest some, and an operator does not know how its reader reaches the cluster."""
    context = click.get_current_context(silent=True)
    words = _cluster_words(context)
    if "--local" in words or (context is not None and context.meta.get(_LOCAL)):
        program = f"{_program(context)} kubectl"
    else:
        program = " ".join(["kubectl", *map(shlex.quote, words)])
    return _KUBECTL.sub(lambda _: f"{program} ", text)


def _program(context: click.Context | None) -> str:
    return "steward" if context is None else context.find_root().info_name or "steward"


def _cluster_words(context: click.Context | None) -> tuple[str, ...]:
    """The cluster options of the running command, or of the group that it belongs to."""
    while context is not None:
        params = context.params
        words = [
            word
            for name in ("kubeconfig", "context")
            if params.get(name)
            for word in (f"--{name}", str(params[name]))
        ]
        if params.get("local"):
            words.append("--local")
        if words:
            return tuple(words)
        context = context.parent
    return ()
