"""Measurements: `python -m bench SCENARIO`."""
