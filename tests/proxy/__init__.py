"""Tests of the proxy: each module at its mirrored place, and whole agents through a proxy that runs."""
