"""Shared by the multigres controllers: context, children, reporting, graceful deletion.

Imports the pure packages of `multigres`, `multigres.metrics`, `runtime`, `kube` and `etcd`.
"""
