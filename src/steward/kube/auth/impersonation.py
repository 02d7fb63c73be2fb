"""Acting as someone else: the headers that say so, encoded as the server decodes them."""

from urllib.parse import quote

from steward.kube.config.settings import Impersonation

# What a header name may hold besides letters and digits; everything else of an extra key is percent-encoded.
_TOKEN = "!#$&'*+-.^_`|~"


def impersonation_headers(who: Impersonation) -> tuple[tuple[str, str], ...]:
    headers = [("Impersonate-User", who.user)]
    if who.uid:
        headers.append(("Impersonate-Uid", who.uid))
    headers.extend(("Impersonate-Group", group) for group in who.groups)
    for key, values in who.extra.items():
        name = f"Impersonate-Extra-{quote(key, safe=_TOKEN)}"
        headers.extend((name, value) for value in values)
    return tuple(headers)
