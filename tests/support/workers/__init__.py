"""Runs the tests in several processes: `pytest --workers 8`.

The main process collects all tests and forks the workers then, so that they share what it has imported and collected.
pytest-xdist was used before: each of its workers is a new interpreter and collects 12,000 tests again, 3.5 s of
processor time each, which was a tenth of the time of a whole run on two cores with eight workers.

`plugin` is the pytest plugin, `pool` the main process's side, `worker` the side of the forks.
"""
