"""What several multigres controllers share: context, children, reporting, graceful deletion.

Imports the pure packages of `multigres` and `runtime`.
"""
