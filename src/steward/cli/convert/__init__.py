"""Translates manifests of the Go operators into those of Steward. Pure.

One module for each of them, and what they share. Imports the API of both operators and no other part of the CLI.
"""
