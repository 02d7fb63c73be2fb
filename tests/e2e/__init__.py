"""Tests with real containers: `make e2e`, as root on Linux. A plain run leaves them out (tests/support/suites.py)."""
