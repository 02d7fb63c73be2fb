"""Random lives of clusters and fleets under faults: `make chaos`; docs/design/chaos.md explains them.

A story (what happens in one life) is plain data; generating, shrinking and comparing are pure and have unit tests here.
The rest drives real processes, and only `python -m tests.chaos` runs it.
"""
