"""Decides in which order objects are deleted, what is drained first and what blocks a deletion.

Pure. Imports `multigres.rollout`, `multigres.status`, `multigres.objects` and `runtime.plan.steps`.
"""
