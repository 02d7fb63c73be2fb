"""Derives conditions, phase, message and events from the readiness of components.

Pure. Imports `multigres.api` and `multigres.resolution`.
"""
