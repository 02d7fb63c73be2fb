"""One module for each verb: `steward VERB`.

Imported lazily by `cli.main`; imports the rest of `cli`.
"""
