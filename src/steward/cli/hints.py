"""Commands that messages suggest: complete lines that work when they are pasted, with the cluster options in use."""

from __future__ import annotations

import shlex

import click


def command_line(*words: str, namespace: str = "") -> str:
    """`steward WORDS -n NAMESPACE`, with the options by which the running command reaches the cluster."""
    context = click.get_current_context(silent=True)
    program = "steward" if context is None else context.find_root().info_name or "steward"
    scope = ("-n", namespace) if namespace else ()
    return " ".join([program, *map(shlex.quote, (*words, *scope, *_cluster_words(context)))])


def cluster_flags() -> str:
    """The cluster options of the running command, to append to a suggested command."""
    words = _cluster_words(click.get_current_context(silent=True))
    return "".join(f" {shlex.quote(word)}" for word in words)


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
