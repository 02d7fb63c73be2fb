from typing import Any

import pytest

from steward.kube.objects.readiness import NotReady, Ready
from steward.tenants.controllers.tenant.observe import evaluate_ready_when

LIVE: dict[str, Any] = {"status": {"phase": "Running", "replicas": 2}, "spec": {"replicas": 2}}


@pytest.mark.parametrize(
    ("template", "is_ready"),
    [
        ('{{ eq .status.phase "Running" }}', True),
        (" {{ eq .status.replicas .spec.replicas }} ", True),
        ('{{ eq .status.phase "Failed" }}', False),
        ("{{ .status.phase }}", False),
        ("{{ eq .status.missing.deep 1 }}", False),
        ("{{ nonsense }}", False),
    ],
)
def test_ready_when_decides_on_the_live_object(template: str, is_ready: bool) -> None:
    assert isinstance(evaluate_ready_when(template, LIVE), Ready if is_ready else NotReady)


PASSWORD = "hunter2-Zq7vXk93LwPd"
SECRET_RULES = [
    "{{ .data.password }}",
    "{{ .data.password | b64enc }}",
    "{{ .data.password | substr 0 12 }}",
    "{{ fail .data.password }}",
    "{{ .data.password.field }}",
    "{{ index .data .data.password .data.password }}",
    "{{ mustToDate .data.password .data.password }}",
    '{{ mustRegexMatch (print .data.password "(") "" }}',
    "{{ template (print .data.password) }}",
    "{{ call .data.password }}",
    "{{ mustFromJson .data.password }}",
    "{{ slice .data.password 100 }}",
    "{{ .data.password | int }}",
    "{{ range .data.password }}{{ end }}x",
    "{{ len .data.password | divf 1 0 }}",
    '{{ if eq (substr 0 1 .data.password) "h" }}bit{{ end }}',
]


@pytest.mark.parametrize("rule", SECRET_RULES)
def test_no_message_has_text_of_the_live_object(rule: str) -> None:
    found = evaluate_ready_when(rule, {"data": {"password": PASSWORD}})
    assert isinstance(found, NotReady)
    assert not any(PASSWORD[start : start + 4] in found.message for start in range(len(PASSWORD) - 3))
    assert "bit" not in found.message
    assert len(found.message) < 100


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("{{ eq 1 2 }}", "readyWhen is false"),
        ("{{/* nothing */}}", "readyWhen is false"),
        ("True", "readyWhen renders neither true nor false"),
        ('a\n{{ fail "x" }}', "readyWhen cannot be rendered at line 2, column 3: a field may not be set yet"),
    ],
)
def test_a_message_has_the_verdict_or_the_position_of_an_error(rule: str, message: str) -> None:
    assert evaluate_ready_when(rule, LIVE) == NotReady(message)
