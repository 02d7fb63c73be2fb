"""Generates the references in `docs/reference` from the code.

`make generate` writes them, `make check` fails if one is out of date.
"""
