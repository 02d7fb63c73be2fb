"""Generates CustomResourceDefinitions with structural schemas from msgspec Structs.

Imports nothing of Steward.
"""
