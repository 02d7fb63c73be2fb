"""Decisions about backups: what a MultigresBackup does next, when a schedule is due, whether backups are healthy. Pure.

Imports `api`, `names`, `reasons`, `resolution`, `views` and the answers of `multiadmin`.
"""
