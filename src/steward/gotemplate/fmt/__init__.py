"""Go's fmt package: Sprint, Sprintf, escaping.

Imports `gotemplate.values`.
"""
