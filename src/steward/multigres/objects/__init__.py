"""One file a component: resolved spec in, Kubernetes objects out. Pure.

What Steward applies is written out in full, the server's own defaults inside atomic values included (a fieldRef's
apiVersion, a volume's defaultMode): the less the server adds, the less there is to tell apart from somebody's edit.
"""
