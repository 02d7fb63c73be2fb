"""Runs the tests in several processes: `pytest --workers 8`.

The main process collects all tests and forks the workers then, so that they share what it has imported and collected.
pytest-xdist was used before: each of its workers is a new interpreter and collects 12,000 tests again. With eight
workers on two cores no test began in the first 15 s of a run of 400 s, and 25 of its 740 core-seconds went there.

`plugin` is the pytest plugin, `pool` the main process's side, `worker` the side of the forks.
"""
