"""What keeps the page current: watches, the inventory of objects, snapshots and streams."""
