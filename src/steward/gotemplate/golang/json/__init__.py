"""Go's encoding/json."""
