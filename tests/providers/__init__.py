"""Completers over the official SDKs, each against a server on loopback."""
