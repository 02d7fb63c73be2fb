"""Verbs for the cluster on this machine.

Imports `steward.local` and the rest of `steward.cli`.
"""
