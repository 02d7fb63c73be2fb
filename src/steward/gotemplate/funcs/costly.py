"""What the set `tenants` has in profile `full` only because one call takes longer than a rendering may.

A tenant's template is untrusted and must end within 100 ms. scrypt takes a fifth of a second by design, so there
is no charge at which `derivePassword` could be both callable and within that. The set `sprig` keeps it, once a
rendering: callers that use that set render their own templates.
"""

from __future__ import annotations

from steward.gotemplate.budget import Profile
from steward.gotemplate.funcs.crypto.digests import derive_password
from steward.gotemplate.funcs.registry import Table

table = Table()
table.budgeted("derivePassword(uint32, string, string, string, string) string", Profile.FULL)(derive_password)
table["derivePassword"].repeatable = True
