"""Go values in Python: their types, and how numbers are written.

Imports nothing of `gotemplate`.
"""
