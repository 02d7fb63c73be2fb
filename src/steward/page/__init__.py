"""The page: both operators in a browser, live, with the rights of the reader.

Belongs here: the HTTP server, view models, watches and sessions of `steward page`. May import `cli` and all below it;
sentences come from there and are not written again.
"""
