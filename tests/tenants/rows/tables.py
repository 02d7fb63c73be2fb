"""Tables of customers, and what is expected of them."""

from steward.tenants.rows.row import Columns

COLUMNS = Columns("id", "url", "active", (("plan", "plan id"),))
