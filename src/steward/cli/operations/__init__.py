"""What the verbs of `commands/running` decide and send, without options and output: one module for each.

Imports `steward.cli.hints`, `steward.cli.inspect`, `steward.kube` and names, labels and rules of the operators.
"""
