"""What `steward doctor` looks at, one subject a file.

Imports `steward.install` and the rest of `steward.cli`.
"""
