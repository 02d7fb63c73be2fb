"""Object trees for `status`, `tree` and `why`: reads objects, their owners and their health."""
