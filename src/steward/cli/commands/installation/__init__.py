"""Verbs that install Steward, examine an installation and remove it.

Imports `steward.install` and the rest of `steward.cli`.
"""
