"""Tools of the scenarios, in the order in which a scenario uses them.

options          the size of a run
scenario_run     runs a scenario, and cleans up after it
plane            the control plane
bare_client      the floor: an HTTP client and nothing else
engine           the engine, assembled as in production
concurrency      a number of calls in flight, and their cost
comparison       several candidates in the same rounds, so that noise affects all of them
background_watch a bare watch that runs during a measurement
bytecode         bytecode for measured processes
child            a separate process, for measuring memory
operator         `steward run` as a process
operator_phases  calls, CPU and memory of an operator in one phase
object_watch     waits until objects reach a state
replay           writes again what an operator wrote
process          memory and CPU of a process, from the kernel
figures          a figure, its floor and its target
report           the table, and its JSON
"""
