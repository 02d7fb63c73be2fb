"""A Secret's `stringData` written into its `data`, as the server would on a create.

Under server-side apply the server does not: we would own `stringData`, a key that we drop would stay in `data`, and
foreign edits of `data` would go unseen.
"""

import base64

from steward.kube.objects.kinds import SECRET, Manifest, kind_of


def with_folded_data(manifest: Manifest) -> Manifest:
    if "stringData" not in manifest or kind_of(manifest) != SECRET:
        return manifest
    strings = manifest["stringData"] or {}
    encoded = {name: base64.b64encode(text.encode()).decode() for name, text in strings.items()}
    rest = {name: value for name, value in manifest.items() if name != "stringData"}
    return {**rest, "data": {**(manifest.get("data") or {}), **encoded}}
