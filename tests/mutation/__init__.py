"""`make mutate`: changes one expression of a decision at a time, and runs the tests that should notice.

A mutant that no test kills is a rule that no test asserts. Only pure modules are changed, and only their nearest tests
run, so that a mutant costs a second and not a test run.
"""
