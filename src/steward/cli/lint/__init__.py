"""The checks of `steward lint` and `steward render`: documents in, findings out, no cluster.

Pure. Imports the specs and the validation of both operators, and the reduced schemas of the built-in kinds.
"""
