"""No value of a Secret is printed, wherever it is kept."""

import base64
import json
from typing import Any

import pytest

from steward.cli.preview.secret_masking import HIDDEN, mask_message
from steward.cli.preview.text import PreviewEntry, entry_dict, manifest_diff, preview_entry, render_entries
from steward.kube.objects.kinds import Manifest
from steward.kube.objects.patches import StrategicPatch
from steward.runtime.plan.dry_run import LAST_APPLIED, DryRunOutcome, DryRunResult, without_server_metadata
from steward.runtime.plan.steps import Apply, Patch

OLD, NEW, KEPT = "canary-old-7Qx", "canary-new-9Zk", "canary-kept-3Wp"


def encoded(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


CANARIES = tuple(text for value in (OLD, NEW, KEPT) for text in (value, encoded(value)))


def secret(metadata: dict[str, Any] | None = None, **fields: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", **(metadata or {})}, **fields}


def template(*secrets: Manifest, **spec: Any) -> Manifest:
    bodies = [{"id": "s", "spec": each} for each in secrets]
    return {"kind": "TenantTemplate", "metadata": {"name": "t"}, "spec": {"secrets": bodies, **spec}}


def annotated(value: str, name: str = LAST_APPLIED) -> Manifest:
    copy = json.dumps(secret(stringData={"password": value}))
    return secret({"annotations": {name: copy}}, data={"password": encoded(value)})


PLACES = {
    "data": (secret(data={"a": encoded(OLD)}), secret(data={"a": encoded(NEW)})),
    "stringData": (secret(stringData={"a": OLD}), secret(stringData={"a": NEW})),
    "data to stringData": (secret(data={"a": encoded(OLD)}), secret(stringData={"a": NEW, "b": KEPT})),
    "removed": (secret(data={"a": encoded(OLD), "b": encoded(KEPT)}), secret(data={"b": encoded(KEPT)})),
    "payload is no map": (secret(data=OLD), secret(data=[NEW])),
    "last applied": (annotated(OLD), annotated(NEW)),
    "copy of another client": (annotated(OLD, "example.com/applied"), annotated(NEW, "example.com/applied")),
    "template": (template({"stringData": {"a": OLD}}), template({"stringData": {"a": NEW}})),
    "template, other list": (
        template(manifests=[{"id": "m", "spec": secret(data={"a": encoded(OLD)})}]),
        template(manifests=[{"id": "m", "spec": secret(data={"a": encoded(NEW)})}]),
    ),
    "list": ({"kind": "List", "items": [secret(data={"a": OLD})]}, {"kind": "List", "items": []}),
}


@pytest.mark.parametrize(("before", "after"), PLACES.values(), ids=PLACES)
def test_a_diff_has_no_value_of_a_secret(before: Manifest, after: Manifest) -> None:
    for old, new in ((before, after), (after, before)):
        diff = "\n".join(manifest_diff(old, new))
        assert not [text for text in CANARIES if text in diff], diff


def test_a_diff_shows_which_keys_of_a_secret_change() -> None:
    before, after = (
        secret(data={"a": encoded(OLD), "b": encoded(KEPT)}),
        secret(data={"a": encoded(NEW), "b": encoded(KEPT)}),
    )
    lines = list(manifest_diff(before, after))
    assert "-  a: (as it is)" in lines
    assert "+  a: (another value)" in lines
    assert "   b: (as it is)" in lines


def test_other_kinds_keep_their_data() -> None:
    config = {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    assert "+  a: '2'" in list(manifest_diff(config, {**config, "data": {"a": "2"}}))


def test_the_copy_that_kubectl_keeps_is_no_part_of_an_object() -> None:
    assert without_server_metadata(annotated(OLD))["metadata"] == {"name": "s"}


@pytest.mark.parametrize(
    ("value", "message", "expected"),
    [
        (NEW, f".stringData.a: got {{Value:{NEW}}}", f".stringData.a: got {{Value:{HIDDEN}}}"),
        (encoded(NEW), f"cannot use {NEW}", f"cannot use {HIDDEN}"),
        (12, "row 121 of 12: expected string, got 12", f"row 121 of {HIDDEN}: expected string, got {HIDDEN}"),
        ('a"b\nc', r'got "a\"b\nc"', f'got "{HIDDEN}"'),
    ],
)
def test_an_error_quotes_no_value(value: Any, message: str, expected: str) -> None:
    assert mask_message(message, secret(stringData={"a": value})) == expected


def test_an_entry_of_a_rejected_secret_has_no_value() -> None:
    manifest, problem = secret(stringData={"a": NEW}), f"expected string, got {NEW}"
    steps = (Apply(manifest), Patch(Apply(manifest).ref, StrategicPatch(manifest)))
    for step in steps:
        [entry] = preview_entry(DryRunResult(step, DryRunOutcome.REJECTED, problem=problem))
        assert NEW not in str(entry_dict(entry))


def test_a_created_secret_shows_only_its_name() -> None:
    manifest = secret(stringData={"a": NEW})
    [entry] = preview_entry(DryRunResult(Apply(manifest), DryRunOutcome.CREATE, None, manifest))
    assert [text for text, _ in render_entries([entry])] == ["+ Secret s", "Would create 1 Secret."]
    assert entry == PreviewEntry(DryRunOutcome.CREATE, entry.ref)
