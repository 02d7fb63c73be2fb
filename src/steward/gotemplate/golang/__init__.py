"""The parts of Go's standard library (and of sprig's own dependencies) that template functions use.

Everything here works on plain Python values and knows nothing of templates: text in, text or a GoError out.
"""
