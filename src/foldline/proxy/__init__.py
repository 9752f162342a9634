"""The proxy: a door on loopback between an agent that nobody can change and its provider.

Its heart is `foldline.clients.following`, the same that a wrapped client has; this package brings sockets, who may come in, which
path is what, and how bytes are passed on. Started by `foldline proxy`; needs the extra `proxy`.
"""
