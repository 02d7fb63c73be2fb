"""Pods: ready at once, those of a Job then complete, deleted ones go.

The annotation `steward.local/pod` chooses a failure instead; it may come and go while the pod runs."""

from __future__ import annotations

from dataclasses import dataclass

from steward.local.kwok.dsl import (
    LIVE,
    READY_STATUS,
    Condition,
    Stage,
    Step,
    after,
    annotated,
    exists,
    is_not,
    is_one_of,
    not_annotated,
    stage,
    status_patch,
)

POD = "steward.local/pod"
READY_AFTER = "steward.local/ready-after"
COMPLETE_AFTER = "steward.local/complete-after"
DELETE_AFTER = "steward.local/delete-after"


@dataclass(frozen=True)
class Outcome:
    """How a pod ends up: its phase, why it is not ready (empty for ready), and the state of its containers."""

    name: str
    phase: str
    not_ready: str
    state: str
    restarts: int = 0
    last_state: str = "{}"


_RUNNING = "{running: {startedAt: {{ $now | Quote }}}}"
_FAILED = "{terminated: {exitCode: 1, reason: Error, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}"
_COMPLETED = _FAILED.replace("exitCode: 1, reason: Error", "exitCode: 0, reason: Completed")

READY = Outcome("ready", "Running", "", _RUNNING)
COMPLETE = Outcome("complete", "Succeeded", "PodCompleted", _COMPLETED)

# Chosen by the annotation `steward.local/pod` and its name.
FAILURES = (
    Outcome("never-ready", "Running", "ContainersNotReady", _RUNNING),
    Outcome(
        "crash-loop",
        "Running",
        "ContainersNotReady",
        "{waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting failed container}}",
        restarts=5,
        last_state=_FAILED,
    ),
    Outcome(
        "image-pull-failure",
        "Pending",
        "ContainersNotReady",
        "{waiting: {reason: ImagePullBackOff, message: back-off pulling image}}",
    ),
    Outcome("failed", "Failed", "PodFailed", _FAILED),
)


def pod_stages() -> list[Stage]:
    unfinished = is_not(".status.phase", "Succeeded", "Failed")
    not_ready_yet = [LIVE, unfinished, is_not(READY_STATUS, "True"), not_annotated(POD)]
    of_a_job = is_one_of(".metadata.ownerReferences.[].kind", "Job")
    running = [
        LIVE,
        is_one_of(".status.phase", "Running"),
        is_one_of(READY_STATUS, "True"),
        of_a_job,
        not_annotated(POD),
    ]
    return [
        after(stage("pod-ready", "Pod", not_ready_yet, [_becomes(READY)]), READY_AFTER),
        after(stage("pod-complete", "Pod", running, [_becomes(COMPLETE)]), COMPLETE_AFTER),
        after(
            stage("pod-delete", "Pod", [exists(".metadata.deletionTimestamp")], [{"delete": True}]),
            DELETE_AFTER,
        ),
        *(_failure_stage(outcome, unfinished) for outcome in FAILURES),
    ]


def _failure_stage(outcome: Outcome, unfinished: Condition) -> Stage:
    # The message of the Ready condition tells that the stage has been played, so that it is played once.
    played = '.status.conditions.[] | select(.type == "Ready") | .message'
    when = [LIVE, unfinished, annotated(POD, outcome.name), is_not(played, outcome.name)]
    return after(stage(f"pod-{outcome.name}", "Pod", when, [_becomes(outcome)]), READY_AFTER)


def _becomes(outcome: Outcome) -> Step:
    return status_patch(
        "{{ $now := Now }}\n{{ $pod := . }}\n"
        f"phase: {outcome.phase}\n"
        "startTime: {{ or .status.startTime $now | Quote }}\n"
        + _addresses()
        + _pod_conditions(outcome)
        + _container_statuses(outcome)
        + _init_container_statuses(outcome)
    )


def _addresses() -> str:
    # Asked for once: every call of PodIPWith takes another address.
    return """
{{ if not .status.podIP }}
{{ with NodeIPWith .spec.nodeName }}
hostIP: {{ . | Quote }}
hostIPs: [{ip: {{ . | Quote }}}]
{{ end }}
{{ with PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ . | Quote }}
podIPs: [{ip: {{ . | Quote }}}]
{{ end }}
{{ end }}
"""


def _pod_conditions(outcome: Outcome) -> str:
    ready = _pod_condition("Ready", outcome) + _pod_condition("ContainersReady", outcome)
    initialized = _pod_condition("Initialized", READY) + _pod_condition("PodReadyToStartContainers", READY)
    gates = "{{ range .spec.readinessGates }}" + _pod_condition("{{ .conditionType }}", READY) + "{{ end }}\n"
    return f"conditions:\n{initialized}{ready}{gates}"


def _pod_condition(kind: str, outcome: Outcome) -> str:
    status = "False" if outcome.not_ready else "True"
    told = f"  reason: {outcome.not_ready}\n  message: {outcome.name}\n" if outcome.not_ready else ""
    told = told or "  reason: null\n  message: null\n"
    return f'\n- type: {kind}\n  status: "{status}"\n  lastTransitionTime: {{{{ $now | Quote }}}}\n{told}'


def _container_statuses(outcome: Outcome) -> str:
    return (
        _CONTAINER_STATUSES.replace("<restarts>", str(outcome.restarts))
        .replace("<ready>", str(not outcome.not_ready).lower())
        .replace("<started>", str(outcome.state == _RUNNING).lower())
        .replace("<last state>", outcome.last_state)
        .replace("<state>", outcome.state)
    )


_CONTAINER_STATUSES = """
containerStatuses:
{{ range $container := .spec.containers }}
{{ $restarts := <restarts> }}
{{ range $pod.status.containerStatuses }}
{{ if eq .name $container.name }}{{ $restarts = max $restarts (int .restartCount) }}{{ end }}
{{ end }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ .image | Quote }}
  containerID: {{ printf "kwok://%s/%s/%d" $pod.metadata.uid .name $restarts | Quote }}
  ready: <ready>
  started: <started>
  restartCount: {{ $restarts }}
  state: <state>
  lastState: <last state>
{{ end }}
"""


def _init_container_statuses(outcome: Outcome) -> str:
    """Init containers have ended well; native sidecars (`restartPolicy: Always`) run as long as the pod does."""
    sidecar = _RUNNING if outcome.phase in {"Running", "Pending"} else _COMPLETED
    return _INIT_CONTAINER_STATUSES.replace("<sidecar state>", sidecar).replace("<state>", _COMPLETED)


_INIT_CONTAINER_STATUSES = """
initContainerStatuses:
{{ range .spec.initContainers }}
{{ $sidecar := eq (or .restartPolicy "") "Always" }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: {{ .image | Quote }}
  containerID: {{ printf "kwok://%s/%s" $pod.metadata.uid .name | Quote }}
  ready: true
  started: {{ $sidecar }}
  restartCount: 0
  {{ if $sidecar }}
  state: <sidecar state>
  {{ else }}
  state: <state>
  {{ end }}
{{ end }}
"""
