"""What compiled templates call while they run: field access, method calls, comparison, loops.

Imports `gotemplate.fmt` and `gotemplate.syntax`.
"""
