"""The controller runtime that both operators use: from a watch event to the writes that follow from it.

In the order in which an event is processed: `controller.triggers` and `controller.predicates` map a change to a key,
`controller.workqueue` queues the keys, `controller.controller` passes each to one worker and one reconcile, which
returns a plan (`plan.steps`) that `plan.executor` executes. `manager` starts and stops everything, elects the leader
and declares the settings. `status` has the status reporting that both operators share, `observability` metrics, probes,
logs and traces. Low to high: `reconcile` and `partition`, `observability`, `plan`, `status`, `controller`, `manager`.
Imports `kube` and `certificates`.
"""
