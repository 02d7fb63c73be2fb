"""Client of multiadmin, which reports the state of Postgres servers, switches the primary of a shard and makes backups.

Imports nothing of Steward.
"""
