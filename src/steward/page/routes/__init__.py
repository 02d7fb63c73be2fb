"""HTTP requests of the page: one module for each group of paths. May import `access`, `live` and `models`."""
