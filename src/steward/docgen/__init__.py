"""The references in `docs/reference`, made from the code: what they say is what runs.

`make generate` writes them, `make check` says when one is out of date.
"""
