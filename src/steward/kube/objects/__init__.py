"""API object types and their pure rules: kinds, metadata, conditions, quantities, patches, readiness.

Pure. Imports nothing of Steward.
"""
