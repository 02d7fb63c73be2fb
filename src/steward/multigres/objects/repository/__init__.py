"""Backup repositories: how containers reach them, and their volume claims. Pure."""
