"""Benchmarks: `python -m bench SCENARIO`."""
