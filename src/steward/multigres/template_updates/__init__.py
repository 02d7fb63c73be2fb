"""Decides which template revision is active in a cluster, and when a new one becomes active.

Pure. Imports `multigres.resolution` and `multigres.objects`.
"""
