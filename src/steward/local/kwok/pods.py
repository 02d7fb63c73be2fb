"""Stages of pods: ready at once; pods of a Job complete, deleted pods are removed.

The annotation `steward.local/pod` selects a failure; it may be added and removed while the pod runs.
"""

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
_GRACE_PERIOD = ".metadata.deletionGracePeriodSeconds | tostring"


@dataclass(frozen=True)
class PodOutcome:
    """The status of a pod: phase, reason for not being ready (empty if ready), and state of its containers."""

    name: str
    phase: str
    not_ready: str
    state: str
    restarts: int = 0
    last_state: str = "{}"


_RUNNING = "{running: {startedAt: {{ $now | Quote }}}}"
_FAILED = "{terminated: {exitCode: 1, reason: Error, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}"
_COMPLETED = _FAILED.replace("exitCode: 1, reason: Error", "exitCode: 0, reason: Completed")

READY = PodOutcome("ready", "Running", "", _RUNNING)
COMPLETE = PodOutcome("complete", "Succeeded", "PodCompleted", _COMPLETED)

# Selected by name with the annotation `steward.local/pod`.
FAILURES = (
    PodOutcome("never-ready", "Running", "ContainersNotReady", _RUNNING),
    PodOutcome(
        "crash-loop",
        "Running",
        "ContainersNotReady",
        "{waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting failed container}}",
        restarts=5,
        last_state=_FAILED,
    ),
    PodOutcome(
        "image-pull-failure",
        "Pending",
        "ContainersNotReady",
        "{waiting: {reason: ImagePullBackOff, message: back-off pulling image}}",
    ),
    PodOutcome("failed", "Failed", "PodFailed", _FAILED),
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
    # kwok deletes without a grace period. Where that is zero, it has done so, and only finalizers keep the pod.
    is_stopping = [exists(".metadata.deletionTimestamp"), is_not(_GRACE_PERIOD, "0")]
    return [
        after(stage("pod-ready", "Pod", not_ready_yet, [_status_step(READY)]), READY_AFTER),
        after(stage("pod-complete", "Pod", running, [_status_step(COMPLETE)]), COMPLETE_AFTER),
        after(stage("pod-delete", "Pod", is_stopping, [{"delete": True}]), DELETE_AFTER),
        *(_failure_stage(outcome, unfinished) for outcome in FAILURES),
    ]


def _failure_stage(outcome: PodOutcome, unfinished: Condition) -> Stage:
    # The message of the Ready condition records that the stage has run, so that it runs only once.
    played = '.status.conditions.[] | select(.type == "Ready") | .message'
    when = [LIVE, unfinished, annotated(POD, outcome.name), is_not(played, outcome.name)]
    return after(stage(f"pod-{outcome.name}", "Pod", when, [_status_step(outcome)]), READY_AFTER)


def _status_step(outcome: PodOutcome) -> Step:
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
    # Called once: every call of PodIPWith allocates another address.
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


def _pod_conditions(outcome: PodOutcome) -> str:
    ready = _pod_condition("Ready", outcome) + _pod_condition("ContainersReady", outcome)
    initialized = _pod_condition("Initialized", READY) + _pod_condition("PodReadyToStartContainers", READY)
    gates = "{{ range .spec.readinessGates }}" + _pod_condition("{{ .conditionType }}", READY) + "{{ end }}\n"
    return f"conditions:\n{initialized}{ready}{gates}"


def _pod_condition(kind: str, outcome: PodOutcome) -> str:
    status = "False" if outcome.not_ready else "True"
    reason = f"  reason: {outcome.not_ready}\n  message: {outcome.name}\n" if outcome.not_ready else ""
    reason = reason or "  reason: null\n  message: null\n"
    return f'\n- type: {kind}\n  status: "{status}"\n  lastTransitionTime: {{{{ $now | Quote }}}}\n{reason}'


def _container_statuses(outcome: PodOutcome) -> str:
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


def _init_container_statuses(outcome: PodOutcome) -> str:
    """Init containers have completed; native sidecars (`restartPolicy: Always`) run as long as the pod does."""
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
