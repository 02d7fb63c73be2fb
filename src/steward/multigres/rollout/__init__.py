"""Decides which pod is replaced next and what happens to volumes.

Pure. Imports `multigres.status`, `multigres.views`, `certificates.options` and `runtime.plan.steps`.
"""
