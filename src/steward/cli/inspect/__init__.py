"""What `status`, `tree` and `why` see: objects of a cluster, who belongs to whom, and how each of them is."""
