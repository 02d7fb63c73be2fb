"""The multigres operator: creates and updates Postgres clusters from MultigresClusters and templates.

In the order of a reconcile: `template_updates` decides which template revisions are active, `resolution` resolves the
spec with them, `objects` builds the manifests, `controllers` apply them, and `status` derives the conditions. `rollout`
and `deletion` decide how running pods are replaced and removed, `topology` has the records of the data plane. Low to
high: `api`, `resolution`, `views`, `objects` and `topology`, `status`, `rollout`, `deletion`, `template_updates`,
`controllers`, `webhooks`, `operator`.
Imports `runtime`, `admission`, `certificates`, `kube` and `etcd`.
"""
