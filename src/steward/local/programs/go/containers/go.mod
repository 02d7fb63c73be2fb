module steward.local/containers

go 1.24.0
