"""Resolves a MultigresCluster and its templates to one complete spec; defaults, validation, warnings.

Pure. Imports `multigres.api`.
"""
