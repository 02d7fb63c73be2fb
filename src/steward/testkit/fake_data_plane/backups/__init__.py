"""Backup repositories of shards, and what multiadmin answers about them."""
