"""Backups of each shard: carries out MultigresBackups through multiadmin.

Imports `controllers.common`, `backups` and what is below them.
"""
