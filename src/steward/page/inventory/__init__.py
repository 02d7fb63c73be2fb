"""The watched objects, reduced to what the views need, and their state at one moment. Does no I/O.

May import `cli` and the API packages.
"""
