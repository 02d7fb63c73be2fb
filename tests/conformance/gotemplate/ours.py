"""Steward's engine behind the same face as Go's: a case in, an answer out. Whatever is no template error is a crash."""

from __future__ import annotations

from steward.gotemplate import TemplateError, from_json, parse

from .case import FIXTURE_TEXT, Answer, Case


def answer(case: Case) -> Answer:
    opts = dict(case.opts)
    left, _, right = opts.pop("delims", "").partition(" ")
    try:
        template = parse(case.tpl, delims=(left, right), **opts)
        return Answer(out=template.render_bytes(from_json(case.data or FIXTURE_TEXT)))
    except TemplateError as error:
        return Answer(err=str(error))
    except Exception as error:
        return Answer(err=f"not a template error: {type(error).__name__}: {error}")
