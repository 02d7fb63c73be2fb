"""What a change would do, computed without writing: registries, clusters, their text.

Imports the operators' pure packages and `cli.inspect`.
"""
