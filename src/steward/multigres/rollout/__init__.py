"""Decides which pod is replaced next and what happens to volumes.

Pure. Imports `multigres.objects` and `multigres.status`.
"""
